# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Put the emulated commands where the real packages put theirs, as the site's OS image would have them."""

from __future__ import annotations

import compileall
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lab.emulators.nodes.lldpctl import CABLES
from lab.emulators.nvml import provision as nvml
from lab.emulators.storage import gpfs, nfs
from lab.emulators.storage.gpfs.software import MODULES, RELEASES
from lab.emulators.storage.gpfs.states import FOUNDER, default_state, local_copy
from lab.machine.hardware import Hardware

if TYPE_CHECKING:
    from lab.hosts.paths import Paths
    from lab.hosts.provision import Context
    from lab.hosts.site import Kind, Site

LAUNCHER = "/opt/lab/launch"
GPFS_BIN = "/usr/lpp/mmfs/bin"
RAIL_TOOLS = (
    *("/usr/local/sbin/ethtool", "/usr/local/sbin/setpci", "/usr/sbin/lldpctl"),
    *("/usr/local/bin/ib_write_bw", "/usr/local/bin/ib_write_lat", "/usr/local/bin/ib_read_lat"),
)
CONNECTX_TOOLS = ("/usr/bin/mlnx_qos", "/usr/local/sbin/openibd")
OTHER_NIC_TOOLS = ("/usr/local/sbin/dcb",)
"""Before the image's own, for which the lab's ports have no DCB."""
NCCL_TESTS = "/opt/nccl-tests/build"
GPU_TOOLS = (
    *(
        "/usr/bin/nvidia-smi",
        "/usr/local/bin/dmesg",
        "/opt/nvbandwidth/nvbandwidth",
        "/usr/local/bin/gemm",
        "/usr/local/bin/stream",
    ),
    *(f"{NCCL_TESTS}/all_reduce_perf", f"{NCCL_TESTS}/all_reduce_perf_mpi"),
)
FILE_SYSTEM = "fs1"
NFS_SERVER, NFS_EXPORTS = "filer", {"/export/data": "home", "/export/home": ""}
"""Its exports, with the directory of homes in each."""
NFS_TOOLS = ("/usr/sbin/mount.nfs", "/usr/sbin/mount.nfs4", "/usr/sbin/nfsstat", "/usr/local/bin/stat")
USERS_GID = 100  # Debian's own group
GPFS_UNIT = f"""\
[Unit]
Description=Storage Scale daemon of the lab
After=network.target
[Service]
ExecStart={GPFS_BIN}/mmfsd
Restart=on-failure
[Install]
WantedBy=multi-user.target
"""


def prepare(site: Site, paths: Paths) -> None:
    """Make the directories of what all hosts share: the cluster's configuration and the files of its file systems."""
    # hosts see this folder read-only, and would compile it for every call of a tool
    compileall.compile_dir(Path(__file__).parent, quiet=2)
    for directory in (paths.shared / "gpfs", paths.shared / "fs"):
        directory.mkdir(parents=True, exist_ok=True)
    (paths.shared / "gpfs").chmod(0o777)
    for user in site.users.values():
        # a file system that is already there has its users' directories
        exported = [nfs.export(paths.shared, NFS_SERVER, name) / homes for name, homes in NFS_EXPORTS.items()]
        for homes in (paths.shared / "fs" / FILE_SYSTEM / "home", *exported):
            home = homes / user.name
            home.mkdir(parents=True, exist_ok=True)
            os.chown(home, user.uid, site.groups.get(user.group, USERS_GID))
            home.chmod(0o700)


def provision(context: Context) -> None:
    """Install the tools that a container of this kind has: NIC and GPU tools by hardware, Storage Scale everywhere."""
    kind = context.host.kind
    if kind.vm:
        return
    for path in (*_by_hardware(kind), *(f"{GPFS_BIN}/{name}" for name in (*gpfs.VERBS, "mmfsd"))):
        context.link(path, LAUNCHER)
    context.link("/usr/local/bin/findmnt", LAUNCHER)
    if kind.ports:
        cables = context.host.cables()
        ends = {inside: [switch, context.site.switches[switch].port(port)] for switch, port, inside in cables}
        context.write(CABLES, json.dumps(ends))
    if kind.hardware:
        _nfs(context)
    if kind.hardware.get("mig"):
        nvml.provision(context, Hardware.of(kind.hardware))
    for module in MODULES:
        context.write(
            f"/usr/lib/modules/{os.uname().release}/extra/{module}", f"{RELEASES[default_state()['version']]}\n"
        )
    context.write("/etc/systemd/system/gpfs.service", GPFS_UNIT)
    context.enable("gpfs.service")
    if context.host.name == FOUNDER:
        context.write("/var/mmfs/gen/mmsdrfs", local_copy(default_state()))


def _by_hardware(kind: Kind) -> tuple[str, ...]:
    """Tools of a host's NICs and GPUs. NICs beside AMD's GPUs are Broadcom's."""
    amd = kind.hardware.get("gpu_vendor") == "amd"
    nic_tools = (*RAIL_TOOLS, *(OTHER_NIC_TOOLS if amd else CONNECTX_TOOLS)) if kind.ports else ()
    return nic_tools + (GPU_TOOLS if kind.hardware.get("gpu_type") and not amd else ())


def _nfs(context: Context) -> None:
    """The tools that need the kernel's NFS. The real package's own are left out when it is installed."""
    for path in NFS_TOOLS:
        context.link(path, LAUNCHER)
    excluded = "".join(f"path-exclude={path}\n" for path in NFS_TOOLS)
    context.write("/etc/dpkg/dpkg.cfg.d/lab-nfs", excluded)
    context.link("/etc/systemd/system/run-rpc_pipefs.mount", "/dev/null")  # the kernel has no sunrpc
