# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of one host: its operating system, disks, file systems and existing clusters."""

from __future__ import annotations

from ..storage.kinds import KINDS
from ..storage.model import KernelLayer
from .model import EXISTING, STORAGE, SYSTEM, Facts, Finding, Sees, Want
from .text import natural

FREE_MIB, FREE_PERCENT = 1024, 5
CONTROLLERS = {"cpu", "cpuset", "memory"}


def _swap(facts: Facts, want: Want) -> str:
    swaps = facts.get("system", {}).get("swaps")
    return f"swap is on: {', '.join(swaps)}" if swaps else ""


def _cgroup(facts: Facts, want: Want) -> str:
    system = facts.get("system")
    if not system or not want["node"]:
        return ""
    if system["cgroup"] != "cgroup2":
        return f"/sys/fs/cgroup is {system['cgroup'] or 'not mounted'}, not cgroup2"
    lacking = sorted(CONTROLLERS - set(system["controllers"]))
    return f"cgroup v2 has no controllers {', '.join(lacking)}" if lacking else ""


def _kernel_old(facts: Facts, want: Want) -> str:
    system = facts.get("system", {})
    newest = max(system.get("kernels") or [""], key=natural)
    old = newest and natural(newest) > natural(system["kernel"])
    return f"kernel {system['kernel']} runs, but {newest} is installed" if old else ""


def _layer(kind: str, layer: KernelLayer) -> Finding:
    def sees(facts: Facts, want: Want) -> str:
        found = facts.get("layers", {}).get(kind, {})
        missing = found.get("installed") and not found["module"]
        kernel = facts.get("system", {}).get("kernel", "")
        return f"{layer.product} is installed, but {layer.module} is not built for kernel {kernel}" if missing else ""

    return Finding(
        f"{kind}_layer_missing",
        STORAGE,
        f"{layer.product} is installed, but its kernel module is not built for the running kernel",
        f"{layer.product} can't start on the node",
        layer.repair,
        sees,
    )


def _disk(facts: Facts, want: Want) -> str:
    # /boot is small by design
    full = [
        f"{one['place']} ({one['free_mib']} MiB)"
        for one in facts.get("disks", ())
        if one["place"] != "/boot" and (one["free_mib"] < FREE_MIB or one["percent"] < FREE_PERCENT)
    ]
    return f"little space is free below {', '.join(full)}" if full else ""


def _memlock(facts: Facts, want: Want) -> str:
    limits = {unit["Id"]: unit["LimitMEMLOCK"] for unit in facts.get("units", ()) if unit.get("LoadState") == "loaded"}
    low = [f"{name} ({limit})" for name, limit in limits.items() if limit != "infinity"]
    return f"locked memory is limited for {', '.join(low)}" if low else ""


def _release(daemons: tuple[str, ...], key: str) -> Sees:
    def sees(facts: Facts, want: Want) -> str:
        found = facts.get("releases", {})
        bad = [f"{name} {found[name]}" for name in daemons if found.get(name) and found[name] not in want[key]]
        return f"{', '.join(bad)} is installed; supported are {', '.join(want[key])}" if bad and want[key] else ""

    return sees


def _existing(kind: str, what: str) -> Sees:
    def sees(facts: Facts, want: Want) -> str:
        files = facts.get("existing", {}).get(kind)
        return f"{what} that Drawbridge did not write exists: {', '.join(files)}" if files else ""

    return sees


TABLE = (
    Finding(
        "swap_on",
        SYSTEM,
        "swap is in use",
        "the kubelet refuses to start, and jobs can exceed their memory limit",
        "run swapoff --all, and remove swap from /etc/fstab",
        _swap,
    ),
    Finding(
        "cgroup_v1",
        SYSTEM,
        "a node has no cgroup v2 with the controllers cpu, cpuset and memory",
        "Slurm and the kubelet can't confine jobs and pods",
        "boot with systemd.unified_cgroup_hierarchy=1",
        _cgroup,
    ),
    Finding(
        "kernel_old",
        SYSTEM,
        "a newer kernel is installed than the one that runs",
        "drivers and GPFS are built for one of the two, and the next boot changes it",
        "drain the node and boot it before the first run",
        _kernel_old,
    ),
    Finding(
        "memlock_limited",
        SYSTEM,
        "the units of slurmd or containerd limit locked memory",
        "RDMA can't register memory in jobs or pods",
        "set LimitMEMLOCK=infinity in a drop-in of the unit, and restart it",
        _memlock,
    ),
    Finding(
        "disk_full",
        STORAGE,
        f"less than {FREE_MIB} MiB or {FREE_PERCENT} percent is free where packages, logs or spool files are written",
        "packages can't be installed, and daemons stop",
        "free space, or grow the file system",
        _disk,
    ),
    *(_layer(name, kind.layer) for name, kind in KINDS.items() if kind.layer),
    Finding(
        "slurm_release",
        EXISTING,
        "an installed Slurm has a release that Drawbridge does not support",
        "its configuration files may be refused",
        "install a release of the support matrix",
        _release(("slurmctld", "slurmd"), "slurm_releases"),
    ),
    Finding(
        "kubelet_release",
        EXISTING,
        "an installed kubelet has another release than the intent pins",
        "a run replaces it",
        "drain the node before the run, or pin the present release",
        _release(("kubelet",), "kubelet_releases"),
    ),
    Finding(
        "slurm_exists",
        EXISTING,
        "a host without Drawbridge has a slurm.conf",
        "a run takes this Slurm over and replaces its files",
        "read the guide to an existing Slurm, look at the diff of check mode, and accept this finding",
        _existing("slurm", "a Slurm configuration"),
    ),
    Finding(
        "kubelet_exists",
        EXISTING,
        "a host without Drawbridge is a member of a Kubernetes cluster",
        "a run replaces the kubelet's configuration",
        "read the guide to adopting a live Kubernetes, and accept this finding",
        _existing("kubelet", "a kubelet's configuration"),
    ),
)
