# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Probes of one host. They only read, run side by side, and each has a time limit."""

from __future__ import annotations

import functools
import os
import pwd
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.command import Command, Run
from . import hardware_io, network_io, state_io, text
from .work_io import Probe, Want, read, said, together

PROBE_S, LIMIT_S = 15, 45
"""For a tool, and for all probes. A driver without its persistence daemon wakes all GPUs for each question."""
PLACES = ("/", "/var", "/var/lib", "/var/log", "/var/spool", "/tmp", "/usr", "/boot")
PROXY_FILES = ("/etc/environment", "/etc/profile.d/proxy.sh", "/etc/systemd/system.conf.d/proxy.conf")


def users(want: Want, run: Run) -> dict[str, list[int]]:
    """Uid and gid of those of the wanted users that exist."""
    wanted = set(want["users"])
    return {name: entry for name in wanted for entry in _account(name)}


def _account(name: str) -> list[list[int]]:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return []
    return [[entry.pw_uid, entry.pw_gid]]


def system(want: Want, run: Run) -> dict[str, Any]:
    """Kernel, control groups, swap, name and processes."""
    release = os.uname().release
    kernels = [path.parent.name for path in Path("/lib/modules").glob("*/modules.dep")]
    names = (read(str(path)).strip() for path in Path("/proc").glob("[0-9]*/comm"))
    return {
        "hostname": os.uname().nodename,
        "kernel": release,
        "kernels": kernels,
        "command_line": read("/proc/cmdline").strip(),
        "cgroup": text.cgroup_type(read("/proc/self/mountinfo")),
        "controllers": read("/sys/fs/cgroup/cgroup.controllers").split(),
        "swaps": text.swaps(read("/proc/swaps")),
        "lldpad": "lldpad" in names,
    }


def security(want: Want, run: Run) -> dict[str, Any]:
    """SELinux, firewall and proxies."""
    return {
        "selinux": (said(run, "getenforce") or "").strip(),
        "policies": [path.name for path in Path("/var/lib/selinux").glob("*/active/modules/*/*")],
        "closed": text.closed_ports(_firewall(run), want["listens"]),
        "proxies": text.proxies(os.environ, map(read, PROXY_FILES)),
    }


def _firewall(run: Run) -> str:
    """All rules, as the tools print them. firewalld's are nft's, unless nft is missing."""
    rules = [said(run, "iptables", "-S"), said(run, "nft", "list", "ruleset")]
    if not rules[1] and (state := said(run, "firewall-cmd", "--state")):
        rules += [f"state: {state.strip()}", said(run, "firewall-cmd", "--list-all-zones")]
    return "\n".join(filter(None, rules))


def disks(want: Want, run: Run) -> list[dict[str, Any]]:
    """Free MiB and percent of each file system below the places that a run writes to."""
    found: dict[int, dict[str, Any]] = {}
    for place in filter(lambda place: Path(place).is_dir(), PLACES):
        status = os.statvfs(place)
        free = {
            "free_mib": status.f_bavail * status.f_frsize >> 20,
            "percent": 100 * status.f_bavail // (status.f_blocks or 1),
        }
        found.setdefault(Path(place).stat().st_dev, {"place": place, **free})
    return list(found.values())


def layers(want: Want, run: Run) -> dict[str, dict[str, bool]]:
    """Whether file systems are installed, and their kernel modules are built for the running kernel."""
    modules = Path(f"/lib/modules/{os.uname().release}")
    return {
        kind: {"installed": Path(folder).is_dir(), "module": any(modules.glob(f"**/{module}*"))}
        for kind, (folder, module) in want["layers"].items()
    }


def units(want: Want, run: Run) -> list[dict[str, str]]:
    """Limits of the daemons whose children lock memory."""
    shown = said(
        run, "systemctl", "show", "--property=Id,LoadState,LimitMEMLOCK", "slurmd.service", "containerd.service"
    )
    return text.settings(shown or "")


def releases(want: Want, run: Run) -> dict[str, str]:
    """Releases of installed daemons."""
    shown = {"slurmd": said(run, "slurmd", "-V"), "slurmctld": said(run, "slurmctld", "-V")}
    shown["kubelet"] = said(run, "kubelet", "--version")
    return {name: text.release(printed) for name, printed in shown.items() if printed}


def existing(want: Want, run: Run) -> dict[str, list[str]]:
    """Files of a Slurm and a kubelet that Drawbridge did not write."""
    slurm = [path for path in ("/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf") if Path(path).is_file()]
    kubelet = [
        path for path in ("/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/config.yaml") if Path(path).is_file()
    ]
    ours = Path("/etc/drawbridge").is_dir()
    return {"slurm": [] if ours else slurm, "kubelet": [] if ours else kubelet}


PROBES: dict[str, Probe] = {
    probe.__name__: probe
    for probe in (
        *(users, system, security, disks, layers, units, releases, existing),
        *(network_io.names, network_io.ports, network_io.mtu),
        *(hardware_io.gpus, hardware_io.pci, hardware_io.nics, state_io.state),
    )
}


def probe(want: Want, probes: Mapping[str, Probe] = PROBES, limit_s: float = LIMIT_S) -> dict[str, Any]:
    """Answers of all probes by name. C(silent) has the probes without an answer, and why."""
    began = time.time()
    run = Command(PROBE_S)
    found = together({name: functools.partial(call, want, run) for name, call in probes.items()}, limit_s)
    facts = {name: answer for name, answer in found.items() if not isinstance(answer, Exception)}
    late = f"no answer within {limit_s:g} s"
    silent = {name: str(found.get(name, late)) for name in probes if name not in facts}
    return {**facts, "silent": silent, "clock": [began, time.time()]}
