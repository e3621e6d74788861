# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What makes a step of the gate likely that is rare by itself: the first job, what happens to it, and what dies."""

from __future__ import annotations

from typing import Any, NamedTuple

from .steps import KILL_BEFORE, LOST, UNREACHABLE


class Need(NamedTuple):
    """The first job is at once; events are (name, seconds after its start or, with `at_end`, its end, how long)."""

    job: dict[str, Any]
    events: tuple[tuple[str, float, float], ...] = ()
    strikes: tuple[tuple[tuple[str, str], str], ...] = ()
    at_end: bool = False
    later: float = 0.0
    """So much longer nothing is wound up."""


GATED = {"partition": "ai-train", "pods": 1, "nodes": 1, "requeue": True, "batch": True}
LONG = {**GATED, "works_s": 90.0}
UNENDED = (("end", "lock"), KILL_BEFORE)
UNDONE = (("close", "lock"), KILL_BEFORE)
TELL = ("squeue comment", "squeue name", "comment")
DOWN, BUSY, POWER = "API server down", "foreign process on a GPU", "node loses power"

SILENT_START = Need(GATED, ((DOWN, 0.0, 16.0),))
SILENT_SRUN = Need({**GATED, "batch": False}, ((DOWN, 0.0, 16.0),))
LATE_ANSWER = Need(GATED, strikes=((("open", "post rolebindings"), LOST),))
RELEASED = Need(GATED, (("person releases", -0.5, 25.0),))
LATE_ACCOUNT = Need(GATED, strikes=((("open", "post serviceaccounts"), LOST),))
LATE_ROLE = Need(GATED, strikes=((("open", "post roles"), LOST),))
SILENT_END = Need({**GATED, "works_s": 3.0}, ((DOWN, 0.0, 25.0),), at_end=True)
OCCUPIED = Need({**GATED, "partition": "hpc"}, ((BUSY, -0.2, 20.0),))
COMPANY = Need(GATED, (("foreign pod", -0.2, 20.0),))
REBOOT = Need(LONG, ((POWER, 4.0, 12.0),))
INTERACTIVE_REBOOT = Need({**LONG, "batch": False}, ((POWER, 4.0, 12.0),))
GHOST = Need(
    {**GATED, "works_s": 6.0, "tidy": False},
    (("kubelet down", -2.0, 60.0), ("pod deleted by force", 2.0, 0.0)),
    (),
    True,
)
SILENT_REBOOT = Need(LONG, ((POWER, 4.0, 12.0),), strikes=((("boot", "get nodes"), UNREACHABLE),))
CROWDED = {**GATED, "pods": 4, "workloads": 2, "works_s": 3.0, "tidy": False}
CROWDED_END = Need(CROWDED)
UNENDED_CROWD = Need(CROWDED, strikes=(UNENDED,))
UNENDED_JOB = Need({**GATED, "pods": 2, "works_s": 3.0, "tidy": False, "workloads": 1}, strikes=(UNENDED,))
UNCLOSED = Need({**GATED, "works_s": 3.0, "tidy": False}, strikes=(UNENDED, UNDONE))
UNCLOSED_BUSY = Need({**GATED, "works_s": 3.0}, ((BUSY, 2.0, 60.0),), strikes=(UNDONE,))
HALF_OPEN = Need(GATED, strikes=(UNENDED, UNDONE, (("open", "post serviceaccounts"), KILL_BEFORE)))
MOVED = Need({**GATED, "works_s": 150.0}, (("its node is lost", 3.0, 195.0),), later=110.0)
SHRUNK = Need({**LONG, "nodes": 2, "pods": 2}, (("shrunk", 6.0, 0.0),))

NEEDS: dict[tuple[str, str], Need] = {
    **{("open", step): SILENT_START for step in ("squeue job", *TELL, "requeuehold")},
    ("open", "notify"): SILENT_SRUN,
    **{("open", step): RELEASED for step in ("make a node dirty", "delete rolebindings", "delete roles")},
    ("open", "delete serviceaccounts"): RELEASED,
    ("open", "get serviceaccounts"): LATE_ACCOUNT,
    ("open", "get roles"): LATE_ROLE,
    ("open", "get rolebindings"): LATE_ANSWER,
    **{("open", step): RELEASED for step in ("get nodes", "show node", "drain")},
    **{("end", step): SILENT_END for step in (*TELL, "get nodes")},
    **{("end", step): CROWDED_END for step in ("delete all workloads", "delete all pods")},
    **{("deliver_token", step): OCCUPIED for step in ("show node", "nvidia-smi", "listpids", "comment")},
    **{("deliver_token", step): COMPANY for step in ("sleep", "drain", "ctr tasks", "squeue comment", "squeue name")},
    **{("boot", step): REBOOT for step in ("lock", "read note", "write note", "get nodes", "make a node dirty")},
    ("boot", "sleep"): SILENT_REBOOT,
    **{("reconcile node", step): REBOOT for step in (*TELL, "requeue")},
    ("reconcile node", "get rolebindings"): MOVED,
    ("reconcile node", "scancel"): INTERACTIVE_REBOOT,
    **{(verb, "ctr tasks"): GHOST for verb in ("close", "reconcile node")},
    **{("reconcile node", step): UNCLOSED for step in ("delete pods", "list serviceaccounts", "remove files")},
    ("reconcile node", "drain"): UNCLOSED_BUSY,
    **{("reconcile controller", step): HALF_OPEN for step in ("get nodes", "make a node dirty")},
    **{("reconcile controller", step): SHRUNK for step in TELL},
    **{("reconcile controller", step): UNENDED_CROWD for step in ("delete all workloads", "delete all pods")},
    **{
        ("reconcile controller", step): UNENDED_JOB
        for step in ("squeue all", "squeue job", "delete rolebindings", "delete roles", "delete serviceaccounts")
    },
    **{
        ("reconcile controller", step): UNENDED_JOB
        for step in ("list workloads", "ask for kinds", "delete workloads", "list pods", "delete pods", "forget note")
    },
}
