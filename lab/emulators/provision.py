# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Put the emulated commands where the real packages put theirs, as the site's OS image would have them."""

from __future__ import annotations

import compileall
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lab.emulators.storage import gpfs
from lab.emulators.storage.gpfs.model import FOUNDER, default_state, local_copy

if TYPE_CHECKING:
    from lab.hosts.paths import Paths
    from lab.hosts.provision import Context
    from lab.hosts.site import Site

LAUNCHER = "/opt/lab/launch"
GPFS_BIN = "/usr/lpp/mmfs/bin"
RAIL_TOOLS = ("/usr/bin/mlnx_qos",)
GPU_TOOLS = ("/usr/bin/nvidia-smi",)
FILE_SYSTEM = "fs1"
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
        home = paths.shared / "fs" / FILE_SYSTEM / "home" / user.name
        home.mkdir(parents=True, exist_ok=True)
        os.chown(home, user.uid, site.groups.get(user.group, USERS_GID))
        home.chmod(0o700)


def provision(context: Context) -> None:
    """Install the tools that a host of this kind has: NIC and GPU tools by hardware, Storage Scale everywhere."""
    kind = context.host.kind
    tools = (RAIL_TOOLS if kind.ports else ()) + (GPU_TOOLS if kind.hardware.get("gpu_type") else ())
    for path in (*tools, *(f"{GPFS_BIN}/{name}" for name in (*gpfs.VERBS, "mmfsd"))):
        context.link(path, LAUNCHER)
    context.write("/etc/systemd/system/gpfs.service", GPFS_UNIT)
    context.enable("gpfs.service")
    if context.host.name == FOUNDER:
        context.write("/var/mmfs/gen/mmsdrfs", local_copy(default_state()))
