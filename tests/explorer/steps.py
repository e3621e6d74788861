# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of the gate's I/O calls, and what makes those likely that are rare: the first job, its fate, and what dies."""

from __future__ import annotations

from typing import Any, NamedTuple

from roles.slurm_gate.files.gate.gate_names import CLOSED, DIRTY

KILL_BEFORE, KILL_AFTER = "killed before", "killed after"
UNREACHABLE, SLOW, LOST, CONFLICT, UNAUTHORIZED = "down", "slow", "answer lost", "409", "401"
SILENT, HANGS, FAILS = "silent", "hangs", "fails"

STEPS: dict[str, tuple[str, ...]] = {
    verb: tuple(steps.replace("\n", " ").strip().split(", "))
    for verb, steps in {
        "open": """
lock, read note, write note, sleep, try a forbidden change, list validatingadmissionpolicies,
list validatingadmissionpolicybindings, list serviceaccounts, list rolebindings, list pods, list nodes,
list workloads, ask for kinds, make a node held, get nodes, post serviceaccounts, post roles, post rolebindings,
get serviceaccounts, get roles, get rolebindings, make a node dirty, delete rolebindings, delete roles,
delete serviceaccounts, squeue job, squeue comment, squeue name, comment, show node, drain, notify, requeuehold
""",
        "end": """
lock, read note, write note, forget note, sleep, make a node dirty, get nodes, delete rolebindings, delete roles,
delete serviceaccounts, list workloads, delete workloads, ask for kinds, list pods, delete pods, delete all workloads,
delete all pods, squeue comment, squeue name, comment
""",
        "deliver_token": """
lock, read note, write note, forget note, sleep, write file, ask for a token, ctr containers, ctr tasks, nvidia-smi,
listpids, show node, drain, get nodes, get rolebindings, squeue job, squeue comment, squeue name, comment, requeue,
scancel
""",
        "close": """
lock, read note, write note, forget note, sleep, rename a file, remove files, make a node dirty, get nodes,
list serviceaccounts, list pods, delete pods, ctr containers, ctr tasks, nvidia-smi, listpids, make a node closed,
show node, drain, squeue comment, squeue name, comment
""",
        "boot": """
lock, read note, write note, sleep, get nodes, make a node dirty
""",
        "reconcile controller": """
lock, read note, write note, forget note, sleep, ask for a token, write file, list serviceaccounts, list rolebindings,
list nodes, get nodes, squeue all, squeue job, make a node dirty, delete rolebindings, delete roles,
delete serviceaccounts, list workloads, ask for kinds, delete workloads, list pods, delete pods, delete all workloads,
delete all pods, squeue comment, squeue name, comment, requeue, scancel
""",
        "reconcile node": """
lock, read note, write note, forget note, sleep, ask for a token, write file, remove files, get nodes,
make a node dirty, list serviceaccounts, list pods, get rolebindings, delete pods, ctr containers, ctr tasks,
nvidia-smi, listpids, make a node closed, show node, drain, resume, squeue job, squeue comment, squeue name, comment,
requeue, scancel
""",
    }.items()
}
"""What every verb does; a step that is not listed fails the exploration, and so does one that no schedule reaches."""
RARE: dict[tuple[str, str], str] = {
    ("open", "delete pods"): "an older run's pod that appears after the opener has looked",
    ("open", "delete workloads"): "an older run's workload that appears after the opener has looked",
    ("open", "delete all pods"): "the same, of several",
    ("open", "delete all workloads"): "the same, of several",
}
"""Steps that only several faults at once reach; no schedule aims at them."""
LOCAL = ("lock", "write note", "forget note", "write file", "rename a file", "remove files")
HOSTS = ("ctr containers", "ctr tasks", "nvidia-smi", "listpids")
SLURMS = (
    *("squeue job", "squeue comment", "squeue name", "squeue all", "show node", "comment", "drain", "resume", "notify"),
)
ENDS = ("requeue", "requeuehold", "scancel")


def faults_of(step: str) -> tuple[str, ...]:
    """What can go wrong at a step."""
    if step in ("sleep", "read note"):
        return (KILL_BEFORE,)
    if step in LOCAL:
        return (KILL_BEFORE, KILL_AFTER)
    if step in HOSTS:
        return (KILL_BEFORE, KILL_AFTER, FAILS, HANGS)
    if step in (*SLURMS, *ENDS):
        return (KILL_BEFORE, KILL_AFTER, SILENT, HANGS)
    always = (KILL_BEFORE, KILL_AFTER, UNREACHABLE, SLOW, LOST, UNAUTHORIZED)
    return (*always, CONFLICT) if step.startswith(("make a node", "delete")) else always


def targets() -> list[tuple[str, str, str]]:
    """Every fault at every step."""
    return [(verb, step, fault) for verb, steps in STEPS.items() for step in steps for fault in faults_of(step)]


KINDS = (
    *("nodes", "pods", "serviceaccounts", "roles", "rolebindings", "token"),
    *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
)
TOOLS = {
    ("scontrol", "--oneliner", "show", "node"): "show node",
    ("scontrol", "listpids"): "listpids",
    ("scontrol", "notify"): "notify",
    ("scontrol", "requeue"): "requeue",
    ("scontrol", "requeuehold"): "requeuehold",
    ("ctr", "--namespace", "k8s.io", "containers"): "ctr containers",
    ("ctr", "--namespace", "k8s.io", "tasks"): "ctr tasks",
}


def api_step(method: str, path: str, body: Any) -> str:
    """The kind of a request to the API server."""
    if method == "PATCH":
        return "try a forbidden change" if "?dryRun" in path else f"make a node {_edge(body)}"
    words = path.partition("?")[0].split("/")
    if words[1:] == ["apis"]:
        return "ask for kinds"
    if words[-1] == "token":
        return "ask for a token"
    listed = words[-1] if words[-1] in KINDS else words[-2] if words[-2] in KINDS else ""
    if not listed:  # /apis/GROUP/VERSION/namespaces/NAMESPACE/KIND[/NAME]
        listed = "workloads"
    whole = listed == words[-1] or (listed == "workloads" and len(words) == 7)
    verb = {"GET": "list", "DELETE": "delete all"}.get(method) if whole else None
    return f"{verb or method.lower()} {listed}"


def _edge(patch: Any) -> str:
    value = next(it["value"] for it in patch if it["op"] == "replace")
    return "closed" if value == CLOSED else "dirty" if value.startswith(DIRTY) else "held"


def tool_step(argv: tuple[str, ...]) -> str:
    """The kind of a program's call."""
    words = (argv[0].rpartition("/")[2], *argv[1:])
    for start, name in TOOLS.items():
        if words[: len(start)] == start:
            return name
    if words[:2] == ("scontrol", "update"):
        return "drain" if "state=drain" in words else "resume" if "state=resume" in words else "comment"
    if words[0] == "squeue":
        if not any(word.startswith("--jobs=") for word in words):
            return "squeue all"
        return "squeue comment" if "comment" in words[-1] else f"squeue {'name' if 'Array' in words[-1] else 'job'}"
    return words[0]


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
STOPPED, BESIDE = "slurmctld stops in a prolog and forgets it", "slurmctld starts a job beside its prolog"
FORGOTTEN = Need(LONG, ((STOPPED, -0.5, 3.0),))
FORGOTTEN_SRUN = Need({**LONG, "batch": False}, ((STOPPED, -0.5, 3.0),))
UNOPENED = Need(LONG, ((BESIDE, -0.5, 1.0), ("person releases", -0.5, 60.0)))
UNOPENED_SRUN = Need({**LONG, "batch": False}, ((BESIDE, -0.5, 1.0), ("person releases", -0.5, 60.0)))

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
    **{("deliver_token", step): UNOPENED for step in ("squeue job", "requeue")},
    ("deliver_token", "scancel"): UNOPENED_SRUN,
    ("reconcile controller", "requeue"): FORGOTTEN,
    ("reconcile controller", "scancel"): FORGOTTEN_SRUN,
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
