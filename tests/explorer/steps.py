# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of the gate's I/O calls."""

from __future__ import annotations

from typing import Any

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
listpids, show node, drain, squeue comment, squeue name, comment
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
delete all pods, squeue comment, squeue name, comment
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
