# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cisco NX-OS before two-stage commits: lines are in force as they are typed. A job on the switch takes them back.

The job rolls back to a checkpoint. A schedule runs it unless the run removes the schedule. The checkpoint has the job,
but not the schedule: after a roll-back the job is left, and tells the next run that it can go.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ...plan import Lines
from ..dialect import SESSION_PREFIX
from .lines import Block

MINUTE_S = 60
REST_S, LINE_S = 120, 1
"""Seconds that a change takes: for each line, and for the checkpoint and the minute that the schedule begins in."""
_JOB, _SCHEDULE = "scheduler job name ", "scheduler schedule name "
_START = "time start "


@dataclass(frozen=True)
class Own:
    """What a change needs to know beside the owned lines."""

    scheduler: bool
    """The switch has the feature for jobs on."""
    two_stages: bool
    """Its release has two-stage commits, and needs no job."""


def change(name: str, seconds: int, lines: Lines, own: Own) -> Lines:
    """Arm the job, then type the lines. The switch's clock counts minutes."""
    hours, minutes = divmod(seconds // MINUTE_S, 60)
    return (
        "configure terminal",
        *(() if own.scheduler else ("feature scheduler",)),
        f"{_JOB}{name}",
        _roll_back(name),
        "end",
        f"checkpoint {name}",
        "configure terminal",
        f"{_SCHEDULE}{name}",
        f"job name {name}",
        f"time start +{hours // 24:02}:{hours % 24:02}:{minutes:02}",
        "exit",
        *lines,
        "end",
    )


def takes_s(lines: Lines) -> int:
    """Seconds for the lines: the time until the roll-back runs from before them."""
    return REST_S + LINE_S * len(lines)


def kept(name: str) -> str:
    """The schedule goes first: without it, nothing runs the job."""
    return f"configure terminal ; no {_SCHEDULE}{name} ; no {_JOB}{name} ; end"


def tidied(name: str) -> str:
    """The checkpoint goes last: until the schedule is seen to be gone, the job needs it."""
    return f"no checkpoint {name}"


def dropped(name: str) -> str:
    """Take away a job that nothing will run, and its checkpoint. The schedule may be gone, and can go after a visit."""
    visit = f"configure terminal ; {_SCHEDULE}{name} ; exit ; end"
    return f"{visit}\n{kept(name)}\n{tidied(name)}"


def rolled_back(name: str) -> str:
    """Do now what the job does later, which takes the schedule away too."""
    return f"{_roll_back(name)}\n{dropped(name)}"


def jobs_of(config: Block, now: datetime, spare: timedelta) -> tuple[Lines, Lines]:
    """Names of jobs that wait for their time, and of those that nothing will run any more."""
    waiting: list[str] = []
    stale: list[str] = []
    for text in config:
        name = text.removeprefix(_JOB)
        if name != text and name.startswith(SESSION_PREFIX):
            over = _over(config.get(f"{_SCHEDULE}{name}", {}), now, spare)
            (stale if over else waiting).append(name)
    return tuple(waiting), tuple(stale)


def _over(schedule: Block, now: datetime, spare: timedelta) -> bool:
    """Whether there is no time, or it has passed. A time that can't be read may be still to come."""
    times = [text.removeprefix(_START) for text in schedule if text.startswith(_START)]
    try:
        return all(now - datetime.strptime(text, "%Y:%m:%d:%H:%M") > spare for text in times)
    except ValueError:
        return False


def _roll_back(name: str) -> str:
    """Whole or not at all."""
    return f"rollback running-config checkpoint {name} atomic"
