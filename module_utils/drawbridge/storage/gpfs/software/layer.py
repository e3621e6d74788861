# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS's software on a host, and what the host has of a cluster before it joins one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....core.command import Command
from ....core.consent import VARIABLES_ARGUMENT
from ....core.layer import Layer, Params, Work
from ....core.packages.apt import Apt
from ....core.packages.apt import Packages as AptPackages
from ....core.packages.dnf import Packages as DnfPackages
from ....core.pinned_packages.dnf_io import PinnedRpms
from ....core.pinned_packages.io import PinnedPackages
from ....core.pinned_packages.plan import PinnedState, as_they_are
from ..daemon_io import Daemon
from ..io import MM_PATH, Mm
from ..kernel.io import KernelModules, KernelPlaces, running
from ..kernel.plan import KernelState
from ..mounts.layer import LOCK_WAIT_S, MOUNTS, node_use
from .io import Identity, NoPackages, Packages, Software, Tools, from_directory
from .model import BUILD, PREBUILT
from .plan import ANY, SoftwareState, plan

SPEC: dict[str, Any] = {
    "packages": {"type": "dict", "default": {}},
    "version": {"type": "str", "default": ""},
    "manager": {"type": "str", "choices": ["apt", "dnf"], "default": "apt"},
    "sources": {"type": "str", "default": ""},
    "directory": {"type": "path", "default": ""},
    "kernel_modules": {"type": "str", "choices": [BUILD, PREBUILT], "default": BUILD},
    "compilers": {"type": "list", "elements": "str", "default": []},
    "headers": {"type": "str", "default": "linux-headers-"},
    "kernels": {"type": "list", "elements": "str", "default": []},
    "accept_license": {"type": "bool", "default": False},
    "may_upgrade": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
    "deleted_from": {"type": "str", "default": ""},
    "slurm_node": {"type": "str", "default": ""},
    "mm_path": {"type": "path", "default": MM_PATH},
    "timeout_s": {"type": "int", "default": 1800},
}
VIEWED = (
    *("packages", "version", "manager", "sources", "directory", "kernel_modules", "compilers", "headers", "kernels"),
    "slurm_node",
)
SOURCES = {
    "apt": Path("/etc/apt/sources.list.d/drawbridge-gpfs.sources"),
    "dnf": Path("/etc/yum.repos.d/drawbridge-gpfs.repo"),
}
CONFIGURATION = Path("/var/mmfs/gen/mmsdrfs")
OSRELEASE, MODULES = Path("/proc/sys/kernel/osrelease"), Path("/lib/modules")


def work(params: Params, check: bool) -> Work[SoftwareState]:
    """The software, and the configuration of a cluster that has deleted this host."""
    run = Command(params["timeout_s"])
    mm = Mm(run, params["mm_path"], LOCK_WAIT_S)
    use = node_use(run, params["slurm_node"])
    want = _wanted(params)

    def stop() -> None:
        use.drain()
        Daemon(mm, MOUNTS.read_text).stop()

    modules = KernelModules(run, want.modules, _places(params)) if params["version"] else None
    identity = Identity(mm, CONFIGURATION)
    device = Software(
        _packages(params, want, run), _tools(params, want, run), modules, want, stop, identity, params["deleted_from"]
    )

    def local(_unused: object) -> dict[str, Any]:
        return {"local": {"cluster_id": device.cluster_id}}

    return Work(device, plan, want, in_use=use.busy, results_of=local)


def _places(params: Params) -> KernelPlaces:
    return KernelPlaces(OSRELEASE, MODULES, Path(params["mm_path"]))


def _wanted(params: Params) -> SoftwareState:
    """Packages of the running kernel have its name in theirs."""
    if not params["version"]:
        return SoftwareState(PinnedState({}, frozenset()), KernelState(""))
    kernel, prebuilt = running(OSRELEASE), params["kernel_modules"] == PREBUILT
    versions = {name: str(version) or ANY for name, version in params["packages"].items()}
    if prebuilt:
        versions[f"gpfs.gplbin-{kernel}"] = params["version"]
    modules = KernelState(kernel, True, params["version"], kernels=tuple(params["kernels"]), prebuilt=prebuilt)
    tools = frozenset() if prebuilt else frozenset([*params["compilers"], f"{params['headers']}{kernel}"])
    return SoftwareState(PinnedState(versions, frozenset(versions), params["sources"]), modules, tools)


def _packages(params: Params, want: SoftwareState, run: Command) -> Packages:
    if not want.packages.versions:
        return NoPackages()
    manager, path = params["manager"], SOURCES[params["manager"]]
    found = from_directory(params["directory"], manager) if params["directory"] else as_they_are
    if manager == "dnf":
        return PinnedRpms(run, want.packages, path, found)
    return PinnedPackages(run, want.packages, path, Apt(run), found)


def _tools(params: Params, want: SoftwareState, run: Command) -> Tools:
    return (DnfPackages if params["manager"] == "dnf" else AptPackages)(run, sorted(want.tools))


MM_SOFTWARE = Layer(SPEC, work, viewed=VIEWED)
