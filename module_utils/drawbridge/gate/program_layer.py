# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's program on a host: its files, Slurm's scripts that call it, and its timer."""

from __future__ import annotations

from typing import Any

from ..core.command import Command
from ..core.daemon.own_unit_io import OwnUnit
from ..core.daemon.plan import DaemonState, plan
from ..core.file_entry import FILES_ARGUMENT, Entry, entries
from ..core.layer import Layer, Params, Work
from ..core.placed.text import FILE, TREE, Item, items

TIMEOUT_S = 60.0
HOOK = "/etc/drawbridge/slurm/{}.d/50-gate"
CALL = "#!/bin/sh\nexec /usr/local/libexec/drawbridge/gate {}\n"
SPEC: dict[str, Any] = {
    "program": {"type": "dict", "required": True},
    "directory": {"type": "path", "default": "/usr/local/lib/drawbridge/gate"},
    "hooks": {"type": "dict", "default": {}},
    "unit": {"type": "str", "default": "drawbridge-gate.timer"},
    "files": FILES_ARGUMENT,
}


def work(params: Params, check: bool) -> Work[DaemonState]:
    """Files and timer. A program that is older than its configuration ignores new keys, so that comes first.

    Hooks are last: the program must exist before Slurm runs them.
    """
    program = {f"{params['directory']}/{name}": Entry(text) for name, text in params["program"].items()}
    hooks = {HOOK.format(kind): Entry(CALL.format(verb), "0755") for kind, verb in params["hooks"].items()}
    files, passive = entries(params["files"])
    want = DaemonState(params["unit"], {**files, **program, **hooks}, passive=passive | set(program) | set(hooks))
    return Work(OwnUnit(params["unit"], want, Command(TIMEOUT_S)), plan, want)


def places(params: Params) -> list[Item]:
    """Hooks and files, then the program and its folder of state."""
    found = [HOOK.format(kind) for kind in params["hooks"]]
    found += [file["path"] for file in params["files"] if file.get("content") is not None]
    folders = [file["path"] for file in params["files"] if file.get("content") is None]
    return [*items(FILE, found), *items(TREE, [params["directory"], *folders])]


GATE_PROGRAM = Layer(SPEC, work, places=places)
