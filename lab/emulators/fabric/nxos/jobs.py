# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints, and jobs of the scheduler that run commands at a time: the way back of one-stage configuration.

Cisco documents that names of checkpoints are unique, that ten fit, and that an atomic rollback does all or nothing.
That a delay ends with the minute, and the sentences of refusals, are modelled.
"""

from __future__ import annotations

import copy
import re
import time
from typing import TYPE_CHECKING

from lab.emulators.fabric.cli import candidate, tree
from lab.emulators.fabric.nxos import stages
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.switch import State

MOST = 10
JOB, SCHEDULE, START = "scheduler job name ", "scheduler schedule name ", "time start "
AT = "%Y:%m:%d:%H:%M"
ROLLED_BACK = (
    "Collecting Running-Config\nGenerating Rollback Patch\nExecuting Rollback Patch\n"
    "Generating Running-config for verification\nVerification is Successful.\n\nRollback completed successfully."
)


def keep(state: State, name: str) -> str:
    """`checkpoint`: remember what runs."""
    if name in state["checkpoints"]:
        raise Refused(f"ERROR: checkpoint {name} already exists")
    if len(state["checkpoints"]) >= MOST:
        raise Refused(f"ERROR: there are {MOST} checkpoints, which is the maximum")
    state["checkpoints"][name] = copy.deepcopy(state["running"])
    return "Done"


def drop(state: State, name: str) -> str:
    """`no checkpoint`."""
    _known(state, name)
    del state["checkpoints"][name]
    return ""


def roll_back(state: State, name: str, now: float) -> str:
    """`rollback running-config checkpoint`."""
    candidate.replace(state, copy.deepcopy(_known(state, name)), now, stages.link)
    return ROLLED_BACK


def timed(text: str, now: float) -> str:
    """Return a line with the time that a delay `+days:hours:minutes` ends at."""
    if not (found := re.fullmatch(r"time start \+(\d+):(\d+):(\d+)", text)):
        return text
    days, hours, minutes = map(int, found.groups())
    return f"{START}{time.strftime(AT, time.gmtime(now + 60 * (minutes + 60 * (hours + 24 * days))))}"


def run_due(state: State, now: float) -> str:
    """Run the jobs whose time has come, once each; return the name of one that ran."""
    done = ""
    for title, node in [*_blocks(state, SCHEDULE)]:
        start = next(tree.values(node, START), "")
        if not start or start > time.strftime(AT, time.gmtime(now)) or title in state["ran"]:
            continue
        state["ran"].append(title)
        for job in tree.values(node, "job name "):
            for command in tree.values(dict(_blocks(state, JOB)).get(job, tree.empty()), "rollback running-config "):
                if (name := command.split()[1]) in state["checkpoints"]:
                    roll_back(state, name, now)
        done = title
    return done


def _blocks(state: State, start: str) -> list[tuple[str, tree.Node]]:
    blocks = state["running"]["blocks"].items()
    return [(title.removeprefix(start), node) for key, node in blocks if (title := tree.header(key)).startswith(start)]


def _known(state: State, name: str) -> tree.Node:
    if name not in state["checkpoints"]:
        raise Refused(f"ERROR: checkpoint {name} does not exist")
    return state["checkpoints"][name]
