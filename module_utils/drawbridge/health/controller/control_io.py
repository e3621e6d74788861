# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm as the controller of findings uses it: one look, then a bounded number of changes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.command import Command, Run, tool
from ...core.converge import DeviceError
from ..decide import Act
from . import records
from .control import Call

LIMIT_S = 20.0
"""For each call of scontrol."""
MOST_CALLS, MOST_S = 200, 20.0
"""Changes after one look: their number, and until when the look is fresh enough. The rest waits for the next look."""


@dataclass(frozen=True)
class Outcome:
    """What became of the calls of one look."""

    accepted: tuple[Act, ...] = ()
    refused: tuple[Act, ...] = ()
    """Those that Slurm did not do: it refused them, or they wait for the next look."""
    complaints: tuple[str, ...] = ()
    left: int = 0
    """Calls that wait for the next look."""


def look(run: Run | None = None) -> str:
    """Records of all nodes that Slurm has. Raises DeviceError without an answer.

    The environment is telemetry's slurm_text.ENVIRONMENT.
    """
    first, *words = records.NODES
    return (run or Command(LIMIT_S))([tool(first), *words]).out


def act(calls: Sequence[Call], run: Run | None = None, most: int = MOST_CALLS, most_s: float = MOST_S) -> Outcome:
    """Make these calls as far as the limits allow. A call without an answer is the last: Slurm may have done it."""
    accepted: list[Act] = []
    refused: list[Act] = []
    complaints: list[str] = []
    rest, run, end = list(calls), run or Command(LIMIT_S), time.monotonic() + most_s
    while rest and len(calls) - len(rest) < most and time.monotonic() < end:
        call = rest.pop(0)
        try:
            run([tool(call.argv[0]), *call.argv[1:]])
            accepted += call.acts
        except DeviceError as err:
            complaints.append(f"{err}; this was the {call}")
            if "rc" not in err.details:
                break
            refused += call.acts
    waiting = [it for call in rest for it in call.acts]
    return Outcome(tuple(accepted), (*refused, *waiting), tuple(complaints), len(rest))
