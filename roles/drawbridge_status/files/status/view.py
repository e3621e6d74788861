# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All that was seen, as rows, lines and JSON. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..gate.hostlist import expand, in_order
from ..gate.slurm import REASON
from . import gate_rules, health_text, run_rules, slurm_rules
from .model import OK, UNKNOWN, Actor, Finding, Job, Node, Seen, Site

VERSION = 1
"""Of the JSON's shape."""
WIDEST = 40
"""Characters of a column."""
HEAD = ("NODES", "SLURM", "GATE", "OWNER", "SINCE", "STATE")


class Row(NamedTuple):
    """A node with its findings, the worst first."""

    node: Node
    findings: tuple[Finding, ...]

    @property
    def level(self) -> int:
        """The worst finding's."""
        return self.findings[0].level


def rows(seen: Seen, site: Site, wanted: Sequence[str] = (), partition: str = "", unit: str = "") -> list[Row]:
    """The rows of these nodes, or of all that Slurm has and the gate guards. `unit` is a hostlist."""
    names = list(dict.fromkeys(wanted)) or _all(seen)
    if unit:
        inside = set(expand(unit))
        names = [name for name in names if name in inside]
    jobs: dict[str, list[Job]] = {}
    for job in seen.jobs:
        for name in job.nodes:
            jobs.setdefault(name, []).append(job)
    gated = frozenset(site.gated)
    found = (_row(_node(name, seen, jobs.get(name, ()), gated)) for name in names)
    return [row for row in found if not partition or (row.node.slurm and partition in row.node.slurm.partitions)]


def _all(seen: Seen) -> list[str]:
    """Names in Slurm, and nodes of Kubernetes with the gate's taint that Slurm does not have."""
    guarded = (name for name, member in (seen.members or {}).items() if member.value)
    return list(dict.fromkeys([*seen.slurm, *guarded]))


def _node(name: str, seen: Seen, jobs: Iterable[Job], gated: frozenset[str]) -> Node:
    slurm = seen.slurm.get(name)
    guarded = tuple(part for part in slurm.partitions if part in gated) if slurm else ()
    member = (seen.members or {}).get(name)
    run, proof, writes = seen.runs.get(name), seen.proofs.get(name), seen.actors.get(name, ())
    kube, history = seen.members is not None, seen.history.get(name, ())
    return Node(name, slurm, tuple(jobs), guarded, member, kube, run, proof, writes, history)


def _row(node: Node) -> Row:
    found = [*slurm_rules.findings(node), *gate_rules.findings(node), *run_rules.findings(node)]
    # sorted is stable: Slurm's side comes first, then the gate's
    return Row(node, tuple(sorted(found, key=lambda one: -one.level)) or (_fine(node),))


def _fine(node: Node) -> Finding:
    if node.jobs:
        job = node.jobs[0]
        return Finding(OK, "busy", f"job {job.number} of {job.user} runs here, since {job.since}")
    closed = " and closed: no pod can run here" if node.gate == "closed" else ""
    return Finding(OK, "ready", f"it is ready for jobs{closed}")


def level(found: Sequence[Row], seen: Seen) -> int:
    """The exit code: the worst level, or UNKNOWN if a part did not answer."""
    return UNKNOWN if seen.blind else max((row.level for row in found), default=OK)


def summary(found: Sequence[Row]) -> str:
    """The first line: how many nodes are in which state, the worst first."""
    counts = Counter((-row.level, row.findings[0].word) for row in found)
    words = ", ".join(
        f"{number} {word}" for (_unused, word), number in sorted(counts.items(), key=lambda it: (it[0][0], -it[1]))
    )
    return f"{len(found)} node{'' if len(found) == 1 else 's'}: {words or 'none'}."


def waiting(seen: Seen) -> list[tuple[str, str]]:
    """Jobs that the gate could not start, with the cause from AdminComment."""
    held = (job for job in seen.jobs if job.state == "PENDING" and REASON in job.comment)
    return [(job.number, job.comment.rpartition(REASON)[2]) for job in held]


def table(found: Sequence[Row], seen: Seen) -> list[str]:
    """Summary, notes, a line for all nodes that are alike, and jobs that wait for the gate."""
    alike: dict[tuple[str, ...], list[str]] = {}
    levels: dict[tuple[str, ...], int] = {}
    for row in found:
        key = _cells(row)
        alike.setdefault(key, []).append(row.node.name)
        levels[key] = row.level
    lines = [(_short(alike[key]), *key) for key in sorted(alike, key=lambda key: -levels[key])]
    widths = [min(WIDEST, max(len(line[column]) for line in [HEAD, *lines])) for column in range(len(HEAD) - 1)]
    text = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[-1]]).rstrip()
        for line in [HEAD, *lines]
    ]
    jobs = [f"job {number} waits for the gate: {cause}" for number, cause in waiting(seen)]
    return [summary(found), *(f"Note: {note}" for note in seen.notes), "", *text, *[""][: len(jobs)], *jobs]


def _short(names: list[str]) -> str:
    """Their hostlist, or first and last name with their number. JSON has all names."""
    text = in_order(names)
    return text if len(text) <= WIDEST else f"{names[0]}..{names[-1]} ({len(names)})"


def _cells(row: Row) -> tuple[str, ...]:
    node, first = row.node, row.findings[0]
    owner = (node.member.value.replace("dirty_", "") if node.member.owner else "") if node.member else ""
    cause = first.word if first.level == OK else f"{first.word}: {first.cause}".replace(node.name, "NODE")
    return (node.slurm.shown if node.slurm else "-", node.gate, owner or "-", _since(node), cause)


def _since(node: Node) -> str:
    if node.slurm and node.slurm.drained and node.slurm.since:
        return node.slurm.since
    if node.gate == "dirty" and node.member and node.member.moved:
        return node.member.moved
    return node.jobs[0].since if node.jobs else "-"


def explain(row: Row, seen: Seen) -> list[str]:
    """One node in sentences: its state, why, and the next step."""
    node = row.node
    state = f"{node.name} is {node.slurm.shown} in Slurm" if node.slurm else f"{node.name} is not in Slurm"
    gate = {"-": "not guarded by the gate", "unknown": "its gate is not visible to you"}.get(node.gate, node.gate)
    lines = [f"{state}; gate: {gate}."]
    for found in row.findings:
        lines += ["", f"{found.word}: {found.cause}."]
        lines += [f"  next: {found.step}"] if found.step else []
    lines += health_text.lines(node.slurm, node.history)
    if node.actors:
        lines += ["", "Changed by others than Drawbridge:", *(f"  {_act(actor)}" for actor in node.actors)]
    lines += ["", *proved] if (proved := _proofs(node)) else []
    if node.run:
        lines += ["", f"The latest run was {node.run.playbook} of {node.run.started}."]
    return [*lines, *(f"Note: {note}" for note in seen.notes)]


def _proofs(node: Node) -> list[str]:
    """When it was last proved empty, and ready for jobs."""
    empty = [f"The gate last proved it empty at {node.proved_empty}."] if node.proved_empty else []
    proof = node.proof
    return [*empty, *([f"Proved ready for jobs by {proof.playbook} of {proof.started}."] if proof else [])]


def _act(actor: Actor) -> str:
    return f"{actor.what}{f' by {actor.who}' if actor.who else ''}{f', {actor.when}' if actor.when else ''}"


def document(found: Sequence[Row], seen: Seen) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "version": VERSION,
        "level": level(found, seen),
        "summary": summary(found),
        "notes": list(seen.notes),
        "nodes": [_plain(row) for row in found],
        "jobs": [{"job": number, "cause": cause} for number, cause in waiting(seen)],
    }


def _plain(row: Row) -> dict[str, Any]:
    node = row.node
    slurm = {} if node.slurm is None else {**node.slurm._asdict(), "flags": sorted(node.slurm.flags)}
    run, ready = ({"playbook": it.playbook, "started": it.started} if it else None for it in (node.run, node.proof))
    return {
        "name": node.name,
        "level": row.level,
        "state": row.findings[0].word,
        "slurm": slurm,
        "gate": node.gate,
        "owner": node.member.value if node.member and node.member.owner else "",
        "since": "" if _since(node) == "-" else _since(node),
        "jobs": [job.number for job in node.jobs],
        "last_run": run,
        "last_proof": {"empty": node.proved_empty, "ready": ready},
        "actors": [actor._asdict() for actor in node.actors],
        "findings": [found._asdict() for found in row.findings],
        "health": health_text.document(node.slurm, node.history),
    }
