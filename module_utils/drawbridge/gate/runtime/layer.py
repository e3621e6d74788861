# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's containerd, with the gate's guard in front of the OCI runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.command import Command
from ...core.converge import DeviceError
from ...core.daemon.plan import DaemonState, plan
from ...core.file_entry import Entry
from ...core.layer import Layer, Params, Unknown, Work
from ...core.placed.text import FILE, Item, items
from ...core.reading import reading
from ...nodes.use_io import NodeUse
from .io import GuardedUnit, behind, of_containerd
from .squash_io import squashes_root
from .text import DROP_IN, GUARD, NEXT, RUNC, doubts, drop_in

COMMAND_S = 120.0
SPEC: dict[str, Any] = {
    "guard": {"type": "bool", "default": True},
    "mounts": {"type": "list", "elements": "str", "default": []},
    "accept_images": {"type": "bool", "default": False},
    "variables": {"type": "dict", "default": {"guard": "guard", "accept_images": "accept_images"}},
    "program": {"type": "path", "default": "/usr/bin/containerd"},
    "slurm_node": {"type": "str", "required": True},
}


def work(params: Params, check: bool) -> Work[Any]:
    """The file for containerd, and the name of the runtime behind the guard."""
    run = Command(COMMAND_S)
    if not Path(params["program"]).exists():
        if not params["guard"]:
            return reading("containerd", dict)
        raise Unknown(f"{params['program']} is not installed yet")
    found = of_containerd(run, params["program"])
    if found.default != RUNC:
        raise DeviceError(
            f"containerd's default runtime is {found.default}, and the gate's guard stands before {RUNC}: let {RUNC} "
            "be the default, as with the GPU operator's cdi.enabled: true"
        )
    guard, runtime = params["guard"], behind(found)
    if not (guard or params["accept_images"]):
        _trusted(params, run([runtime, "--version"]).out)
    binary = GUARD if guard else runtime
    drops = {DROP_IN: Entry(drop_in(binary))} if guard or Path(DROP_IN).exists() else {}
    files = {**({NEXT: Entry(f"{runtime}\n")} if guard else {}), **drops}
    want = DaemonState("containerd.service", files, passive=frozenset({NEXT}))
    use = NodeUse(run, params["slurm_node"])
    return Work(GuardedUnit(want, run, params["program"], binary), plan, want, in_use=use.busy)


def _trusted(params: Params, version: str) -> None:
    """Raise DeviceError unless the runtime stays in images, and each file system takes root's rights away."""
    found = doubts([mount for mount in params["mounts"] if not squashes_root(mount)], version)
    if found:
        names = params["variables"]
        raise DeviceError(
            f"images of jobs can lead root into closed directories: {'; '.join(found)}. Set {names['guard']}: true, or "
            "squash root and update runc. If all jobs run images of people whom you trust with these file systems, set "
            f"{names['accept_images']}: true"
        )


def places(params: Params) -> list[Item]:
    """containerd's file, and without the guard no name of a runtime behind it."""
    return items(FILE, [DROP_IN, *([NEXT] if params["guard"] else [])])


GATE_RUNTIME = Layer(SPEC, work, places=places)
