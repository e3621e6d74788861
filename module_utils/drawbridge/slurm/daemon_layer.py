# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon of Slurm on nodes and login hosts."""

from __future__ import annotations

from typing import Any

from ..core.command import Command
from ..core.consent import VARIABLES_ARGUMENT
from ..core.converge import DeviceError
from ..core.daemon.plan import DaemonState
from ..core.file_entry import DAEMON_FILES_ARGUMENT, entries, paths
from ..core.layer import Layer, Params, Unknown, Work
from ..core.placed.text import FILE, Item, items
from ..core.units import Unit
from .takeover import report
from .takeover.environment import is_configuration
from .takeover.io import Site, TakenOver
from .takeover.plan import TakeoverState, plan

SPEC: dict[str, Any] = {
    "unit": {"type": "str", "required": True},
    "files": DAEMON_FILES_ARGUMENT,
    "busy_lock": {"type": "path", "default": ""},
    "stale": {"type": "list", "elements": "path", "default": []},
    "may_drop": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
}


def work(params: Params, check: bool) -> Work[DaemonState]:
    """The unit and its files."""
    unit = Unit(params["unit"], Command(timeout_s=120))
    if not unit.read().installed:
        raise Unknown(f"{unit.name} is not installed yet")
    files, passive = entries(params["files"])
    if others := [path for path in files if is_configuration(path)]:
        raise DeviceError(
            f"files has {others[0]}, which may hold lines of the site that this module does not compare; use"
            " slurm_config for slurmctld's files, or slurmdbd_config for slurmdbd's"
        )
    want = TakeoverState(unit.name, files, passive=passive, once=paths(params["files"], "once"))
    daemon = TakenOver(unit, want, params["busy_lock"], Site(stale=params["stale"]))
    return Work(
        *(daemon, plan, want),
        in_use=daemon.busy,
        error_of=lambda error: report.with_refusal(error, daemon.taken_over, params["may_drop"]),
        shown=lambda: report.text(daemon.taken_over),
    )


def places(params: Params) -> list[Item]:
    """Files that are Drawbridge's alone, by their paths."""
    return items(FILE, [it["path"] for it in params["files"] if "drawbridge" in it["path"] and it.get("content")])


SLURM_DAEMON = Layer(SPEC, work, places=places)
