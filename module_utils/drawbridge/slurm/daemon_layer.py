# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon of Slurm on nodes and login hosts."""

from __future__ import annotations

from typing import Any

from ..core.command import Command
from ..core.daemon.io import Daemon
from ..core.daemon.plan import DaemonState, plan
from ..core.file_entry import FILES_ARGUMENT, entries
from ..core.layer import Layer, Params, Unknown, Work
from ..core.units import Unit

SPEC: dict[str, Any] = {
    "unit": {"type": "str", "required": True},
    "files": FILES_ARGUMENT,
    "busy_lock": {"type": "path", "default": ""},
}


def work(params: Params, check: bool) -> Work[DaemonState]:
    """The unit and its files."""
    unit = Unit(params["unit"], Command(timeout_s=120))
    if not unit.read().installed:
        raise Unknown(f"{unit.name} is not installed yet")
    files, passive = entries(params["files"])
    want = DaemonState(unit.name, files, passive=passive)
    daemon = Daemon(unit, want, params["busy_lock"])
    return Work(daemon, plan, want, in_use=daemon.busy)


SLURM_DAEMON = Layer(SPEC, work)
