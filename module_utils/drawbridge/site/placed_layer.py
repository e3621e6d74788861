# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What earlier runs placed on a node and the intent has no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.command import Command
from ..core.converge import DeviceError
from ..core.daemon.io import held
from ..core.layer import Layer, Params, Work
from ..core.placed.io import Leftovers, RecordFile, there
from ..core.placed.plan import LeftState, plan
from ..core.placed.text import RECORD, joined, left_over, plain, record, without
from .placed_earlier import EARLIER

LIMIT_S = 120.0
"""For systemd, which stops a unit."""
SPEC: dict[str, Any] = {
    "placed": {"type": "dict", "default": {}},
    "gone": {"type": "list", "elements": "str", "default": []},
    "record": {"type": "path", "default": RECORD},
    "busy_lock": {"type": "path", "default": "/run/drawbridge/slurm-dispatch.lock"},
}


def work(params: Params, check: bool) -> Work[LeftState]:
    """Remove what the record has and these roles do not place any more. Forgets items that are gone already."""
    if not check:
        note(params)
    found = Leftovers(_file(params), _wanted(params), params["gone"], Command(LIMIT_S))
    return Work(found, plan, LeftState(), in_use=lambda: held(params["busy_lock"]))


def note(params: Params) -> None:
    """Add to the record what this run places, before it does: a run that is killed leaves nothing unknown.

    What left and is gone is forgotten. Raises DeviceError.
    """
    file, wanted = _file(params), _wanted(params)
    have = file.read()
    gone = [item for item in left_over(have, wanted, params["gone"]) if not there(item)]
    if plain(now := joined(without(have, gone), wanted)) != plain(have):
        file.write(now)


def recorded(params: Params) -> set[str]:
    """The roles that placed something on this host. Raises DeviceError."""
    return {role for role, items in _file(params).read().items() if items}


def _file(params: Params) -> RecordFile:
    return RecordFile(EARLIER, Path(params["record"]))


def _wanted(params: Params) -> Any:
    try:
        return record(params["placed"])
    except ValueError as err:
        raise DeviceError(f"placed is refused: {err}") from err


PLACED_FILES = Layer(SPEC, work)
