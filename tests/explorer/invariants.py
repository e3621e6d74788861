# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What must hold whatever fails, as pure functions of what happened. Each returns the breaches as sentences.

Nothing here knows where the records come from. The explorer's model writes them, and so can a watch of a real API
server beside Slurm's accounting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, pairwise

from .records import (
    EVERYWHERE,
    FOREIGN_POD,
    GPU_USED,
    MUTE,
    NEVER,
    PERSON,
    Change,
    Container,
    Drain,
    History,
    Right,
    Run,
)

CLOSED, DIRTY = "closed", "dirty_"
HELD = re.compile(r"([a-z0-9]([-a-z0-9]{0,44}[a-z0-9])?)[.]([1-9][0-9]{0,9})")
OURS = ("drawbridge gate: ", "drawbridge: prolog part 50-gate ", "drawbridge: epilog part 50-gate ")
DUPLICATE = "Duplicate jobid"
SLURMS = ("Not responding", "Prolog error", "Epilog error", "Node unexpectedly rebooted", DUPLICATE)
T_S = 120.0
"""From a job's end until its nodes are closed and usable, after its pods' grace, if all servers answer."""
LATE_S = 60.0
"""An opener's patience: so long it may go on for a job that Slurm is through with."""
RACE_S = 1.0
"""Slurm has no compare and swap: what a person does while the gate's command is under way is lost."""

Breaches = Iterator[str]


def owner(value: str) -> tuple[str, int] | None:
    """Namespace and job that a taint's value names."""
    found = HELD.fullmatch(value.removeprefix(DIRTY))
    return (found.group(1), int(found.group(3))) if found else None


def states(history: History, node: str) -> list[tuple[float, float, str]]:
    """(from, until, value) of a node's taint, without gaps."""
    points = [(0.0, history.begun[node]), *((it.at, it.after) for it in history.changes if it.node == node)]
    return [(a, b, value) for (a, value), (b, _) in pairwise([*points, (NEVER, "")])]


def only_allowed_edges(history: History) -> Breaches:
    """closed -> held by the opener, held -> dirty, dirty -> closed by the node itself; people close and release."""
    for it in history.changes:
        if not _allowed(it):
            yield f"{it.node} went from {it.before!r} to {it.after!r} by {it.by} at {it.at:.2f}"


def _allowed(it: Change) -> bool:
    if it.by == PERSON:
        return it.before == it.after or (it.before, it.after) in ((CLOSED, ""), ("", CLOSED))
    if HELD.fullmatch(it.after):
        return it.by == "opener" and it.before == CLOSED
    if it.after == DIRTY + it.before:
        return it.by in ("reconciler", it.node) and bool(HELD.fullmatch(it.before))
    return it.after == CLOSED and it.before.startswith(DIRTY) and it.by == it.node


def the_label_names_the_holder(history: History) -> Breaches:
    """The kubelet's fence stands as long as the taint's, and falls in the same write."""
    for it in history.changes:
        holder = owner(it.after) if not it.after.startswith(DIRTY) else None
        if it.label != (str(holder[1]) if holder else ""):
            yield f"{it.node} is {it.after!r} with the label {it.label!r} at {it.at:.2f}"


def one_write_a_transition(history: History) -> Breaches:
    """No gate's write of a node that changes nothing."""
    for it in history.changes:
        if it.by != PERSON and it.before == it.after:
            yield f"{it.node} was written by {it.by} without a change at {it.at:.2f}"


def opened_under_policies(history: History) -> Breaches:
    """Without admission policies an open node is open to all pods."""
    for it in history.changes:
        if it.by == "opener" and not it.guarded:
            yield f"{it.node} was opened while no policy was in force at {it.at:.2f}"


def opened_for_its_job(history: History) -> Breaches:
    """A node is given to a job that has it in Slurm, or is just ending, and to the namespace of that job's account.

    Slurm may let PrologSlurmctld go on when its job is cancelled; EpilogSlurmctld, or the timer, takes back what it
    gave.
    """
    for it in history.changes:
        to = owner(it.after)
        if it.by == "opener" and to and not any(_given(run, it, to) for run in history.runs):
            yield f"{it.node} was opened for {it.after}, which does not have it, at {it.at:.2f}"


def _given(run: Run, change: Change, to: tuple[str, int]) -> bool:
    return (run.namespace, run.job) == to and change.node in run.nodes and run.start <= change.at < run.gone + LATE_S


def pods_run_where_their_job_is(history: History) -> Breaches:
    """While a pod of a job runs, its node's taint names that job: never closed, never another's, held or dirty."""
    for node in history.begun:
        spans = states(history, node)
        for it in (it for it in history.containers if it.node == node):
            for start, end, value in spans:
                if start < it.end and it.start < end and owner(value) != (it.namespace, it.job):
                    yield f"{_named(it)} ran while {node} was {value!r}, at {max(start, it.start):.2f}"


def no_gpu_is_given_twice(history: History) -> Breaches:
    """While a pod of a run of a job runs on a node, no other run has a pod or a user's process there."""
    for it in history.containers:
        for run in history.runs:
            mine = (run.job, run.run, run.account) == (it.job, it.run, it.account)
            first, last = max(it.start, run.works), min(it.end, run.over, run.left.get(it.node, NEVER))
            if not mine and it.node == run.nodes[0] and first < last:
                yield f"{_named(it)} ran beside job {run.job} (run {run.run}) on {it.node} at {first:.2f}"
        for other in history.containers:
            same = (other.job, other.run, other.account) == (it.job, it.run, it.account)
            if not same and other.node == it.node and it.start < other.end and other.start <= it.start:
                yield f"{_named(it)} ran beside {_named(other)} on {it.node} at {it.start:.2f}"


def a_number_has_one_owner(history: History) -> Breaches:
    """No two identities of one number are there at a time, no node opens beside another's, no other's pod starts there.

    A slurmctld that was killed gives a number again, and a kubelet tells jobs by nothing but the number.
    """
    for one, other in combinations(history.rights, 2):
        since = max(one.start, other.start)
        if one.job == other.job and _whose(one) != _whose(other) and since < min(one.end, other.end):
            yield f"{_identity(one)} and {_identity(other)} were there at {since:.2f}"
    for it, until in _openings(history):
        for right in history.rights:
            if right.start <= it.at < right.end and _anothers(right, it):
                yield f"{it.node} was opened for {it.after} while {_identity(right)} was there, at {it.at:.2f}"
        for pod in history.containers:
            if pod.node == it.node and it.at <= pod.start < until and pod.account and _anothers(pod, it):
                yield f"{_named(pod)} of {pod.account} began on {it.node}, which {it.account} had, at {pod.start:.2f}"


def _openings(history: History) -> Iterator[tuple[Change, float]]:
    """Openings of nodes for known accounts, and until when each was held."""
    ends: dict[str, float] = {}
    for it in reversed(history.changes):
        if it.by == "opener" and it.account:
            yield it, ends.get(it.node, NEVER)
        ends[it.node] = it.at


def _anothers(it: Right | Container, opened: Change) -> bool:
    """Whether it has the number of an opening, but another account or namespace."""
    to = owner(opened.after)
    return to is not None and it.job == to[1] and _whose(it) != (to[0], opened.account)


def _whose(it: Right | Container) -> tuple[str, str]:
    return it.namespace, it.account


def _identity(it: Right) -> str:
    return f"{it.namespace}/{it.account}"


def no_foreign_pod_beside_a_job(history: History) -> Breaches:
    """While a foreign pod runs on a node, no job begins there and the node is not closed."""
    for it in (it for it in history.troubles if it.what == FOREIGN_POD):
        for prolog in (prolog for prolog in history.prologs if prolog.node == it.node):
            if it.start < prolog.looked and prolog.end < it.end:
                yield f"job {prolog.job} began on {it.node} while {it.what}, at {prolog.end:.2f}"
        for change in (change for change in history.changes if change.node == it.node and change.by == it.node):
            if change.after == CLOSED and it.start < change.looked and change.at < it.end:
                yield f"{it.node} was closed while {it.what}, at {change.at:.2f}"


def closed_means_empty(history: History) -> Breaches:
    """When a node closes its job has no account, nothing of it is left there, and no pod could still be bound.

    What a later run of the job has elsewhere is no matter.
    """
    for it, gone, later in _closings(history):
        for account in history.accounts:
            mine = (account.namespace, account.job) == gone and account.start < later
            if mine and account.start <= it.at < account.end:
                yield f"{it.node} was closed while the account of {it.before} was there, at {it.at:.2f}"
        for pod in history.unbound:
            if (pod.namespace, pod.job) == gone and pod.start <= it.at < pod.end and pod.start < later:
                yield f"{it.node} was closed while pod {pod.name} waited for a node, at {it.at:.2f}"
        for container in history.containers:
            if container.node == it.node and container.start <= it.at < container.end:
                yield f"{it.node} was closed while {_named(container)} ran there, at {it.at:.2f}"


def nothing_comes_after_closed(history: History) -> Breaches:
    """Once a node of a job has closed, no pod of that run comes into being: the proof was not too early."""
    for it, gone, later in _closings(history):
        for pod in history.unbound:
            if (pod.namespace, pod.job) == gone and it.at < pod.start < later:
                yield f"pod {pod.name} was made at {pod.start:.2f}, after {it.node} had closed at {it.at:.2f}"


def _closings(history: History) -> Iterator[tuple[Change, tuple[str, int], float]]:
    """Closings of nodes, with the job, and when its next run was given its first node."""
    dirty: dict[str, float] = {}
    for it in history.changes:
        if it.after.startswith(DIRTY):
            dirty[it.node] = it.at
        if it.after == CLOSED and (gone := owner(it.before)):
            since = dirty.get(it.node, 0.0)
            opened = [
                other.at for other in history.changes if other.at > since and other.after == f"{gone[0]}.{gone[1]}"
            ]
            yield it, gone, min([*opened, NEVER])


def persons_drains_stay(history: History) -> Breaches:
    """The gate neither lifts a person's drain nor changes its reason."""
    for it in history.drains:
        foreign = it.before and not it.before.startswith((*OURS, *SLURMS))
        if it.by == "gate" and foreign and it.after != it.before and it.at - it.since > RACE_S:
            yield f"the drain of {it.node} ({it.before}) became {it.after!r} by the gate at {it.at:.2f}"


def the_living_are_left_alone(history: History) -> Breaches:
    """A job that runs and has all that Slurm gave it neither loses a node nor is ended by the gate."""
    for run in history.runs:
        healthy = min(run.over, run.shaken)
        for it in history.changes:
            mine = owner(it.before) == (run.namespace, run.job) and run.has(it.node, it.at)
            if mine and it.after.startswith(DIRTY) and run.works < it.at < healthy:
                yield f"{it.node} was taken from job {run.job} (run {run.run}), which works, at {it.at:.2f}"
        if run.ended_by_gate and run.works < run.over < run.shaken:
            yield f"job {run.job} (run {run.run}) was ended by the gate at {run.over:.2f}, though it worked"


def usable_in_time(history: History, grace_s: float) -> Breaches:
    """A node that its job has left is closed and in service within T_S of calm, plus the pods' grace."""
    for node in history.begun:
        for start, end, why in _unusable(history, node):
            calm, since = _longest_calm(history, node, start, min(end, history.end))
            if calm > T_S + grace_s:
                yield f"{node} was {why} for {calm:.0f} s of calm from {since:.0f} on"


def _unusable(history: History, node: str) -> Iterator[tuple[float, float, str]]:
    """(from, until, how): held or dirty after its job's end; kept from jobs for the gate's sake."""
    for start, end, value in states(history, node):
        if its := owner(value):
            runs = [run for run in history.runs if (run.namespace, run.job) == its and node in run.nodes]
            for free, busy in _between(runs, node):
                if max(start, free) < min(end, busy):
                    yield max(start, free), min(end, busy), value
    for start, end, reason in _kept_out(history, node):
        for free, busy in _between([run for run in history.runs if node in run.nodes], node):
            if max(start, free) < min(end, busy):
                yield max(start, free), min(end, busy), f"kept out ({reason})"


def _kept_out(history: History, node: str) -> Iterator[tuple[float, float, str]]:
    """(from, until, reason) of drains that are the gate's to lift, or Slurm's for the gate's sake."""
    drains = [it for it in history.drains if it.node == node]
    ends = [*(it.at for it in drains[1:]), NEVER]
    for it, end in zip(drains, ends, strict=False):
        if it.after.startswith((*OURS, *SLURMS)):
            yield it.at, end, it.after


def _between(runs: Iterable[Run], node: str) -> Iterator[tuple[float, float]]:
    """Times in which no run has the node."""
    free = 0.0
    for run in sorted(runs, key=lambda run: run.start):
        if free < run.start:
            yield free, run.start
        free = max(free, min(run.over, run.left.get(node, NEVER)))
    yield free, NEVER


def _longest_calm(history: History, node: str, start: float, end: float) -> tuple[float, float]:
    longest, since, at = 0.0, start, start
    for it in sorted((it for it in history.troubles if it.node in (node, EVERYWHERE)), key=lambda it: it.start):
        if it.end <= at or it.start >= end:
            continue
        if it.start - at > longest:
            longest, since = it.start - at, at
        at = max(at, it.end)
    return (end - at, at) if end - at > longest else (longest, since)


def no_job_waits_permanently(history: History, stuck_s: float) -> Breaches:
    """What Slurm runs begins to work, and has its nodes: no calm stretch of T_S, and what it takes to see, without."""
    for run in history.runs:
        over = min(run.over, history.end)
        for node in run.nodes:
            calm, since = _longest_calm(history, node, run.start, min(run.works, over))
            if run.namespace and run.batch and calm > T_S + stuck_s:
                yield f"job {run.job} (run {run.run}) had {node} for {calm:.0f} s of calm from {since:.0f} without work"
            if run.namespace and not run.shrank and (gap := _without(history, run, node, over)) > T_S:
                yield f"job {run.job} (run {run.run}) ran for {gap:.0f} s of calm without {node}"


def _without(history: History, run: Run, node: str, over: float) -> float:
    """The longest calm in which what Slurm calls running does not hold a node of its own."""
    spans = [(a, b) for a, b, value in states(history, node) if value != f"{run.namespace}.{run.job}"]
    return max([_longest_calm(history, node, max(a, run.runs), min(b, over))[0] for a, b in spans], default=0.0)


def no_job_works_unopened(history: History) -> Breaches:
    """A batch script starts on a node that is held for its job, an interactive job where all nodes are."""
    for run in (run for run in history.runs if run.namespace and run.works < NEVER):
        for node in run.nodes[: 1 if run.batch else None]:
            held = [(a, b) for a, b, value in states(history, node) if value == f"{run.namespace}.{run.job}"]
            if not any(a <= run.works and run.works - RACE_S < b for a, b in held):
                yield f"job {run.job} (run {run.run}) began at {run.works:.2f}, and {node} was not opened for it"


def prologs_do_not_fail(history: History) -> Breaches:
    """A node's prolog never fails a job of the gate's for the API server's sake: for company, or if it can't see."""
    gated = {run.job for run in history.runs if run.namespace}
    for it in history.drains:
        found = re.fullmatch(r"drawbridge: prolog part 50-gate ended with code 1 in job ([0-9]+).*", it.after)
        if found and int(found.group(1)) in gated and not _beside(history, it, int(found.group(1))):
            yield f"{it.node}: {it.after} at {it.at:.2f}"


def _beside(history: History, drain: Drain, job: int) -> bool:
    """While a prolog may have been at work the node was another job's, had a foreign pod, or its host was silent.

    Without slurmctld, or with tools that hang, a prolog can't end a job that was not opened.
    """
    since = drain.at - LATE_S
    owners = [owner(value) for start, end, value in states(history, drain.node) if start < drain.at and since < end]
    kept = [it for it in history.troubles if it.what in (FOREIGN_POD, MUTE) and it.node == drain.node]
    kept += [it for it in history.troubles if it.what.startswith(("slurmctld", "controller", "everything", "tools"))]
    others = any(it and it[1] != job for it in owners)
    return others or any(it.start < drain.at and since < it.end for it in kept)


def back_means_empty(history: History) -> Breaches:
    """The gate resumes only an empty node, and a prolog admits non-gated jobs only there."""
    kept = [it for it in history.troubles if it.what in (GPU_USED, FOREIGN_POD)]
    for it in history.drains:
        if it.by == "gate" and not it.after:
            for trouble in kept:
                if trouble.node == it.node and trouble.start < it.at - RACE_S and it.at < trouble.end:
                    yield f"{it.node} was resumed while {trouble.what}, at {it.at:.2f}"
    for run in history.runs:
        for trouble in (it for it in kept if it.what == GPU_USED):
            mine = not run.namespace and trouble.node == run.nodes[0]
            if mine and trouble.start < run.works - RACE_S and run.works < trouble.end:
                yield f"job {run.job} started on {trouble.node} while {trouble.what}, at {run.works:.2f}"


def nothing_is_left(history: History) -> Breaches:
    """Of jobs that are over nothing is there in the end: no right, no object, no token, no note."""
    yield from (f"at the end there is {what}" for what in history.left)


def no_surprises(history: History) -> Breaches:
    """The gate never crashes."""
    yield from history.surprises


def _named(it: Container) -> str:
    return f"pod {it.namespace}/{it.pod} of job {it.job} (run {it.run})"


SAFETY: tuple[Callable[[History], Breaches], ...] = (
    only_allowed_edges,
    the_label_names_the_holder,
    one_write_a_transition,
    opened_under_policies,
    opened_for_its_job,
    pods_run_where_their_job_is,
    no_gpu_is_given_twice,
    a_number_has_one_owner,
    no_foreign_pod_beside_a_job,
    closed_means_empty,
    nothing_comes_after_closed,
    persons_drains_stay,
    the_living_are_left_alone,
    no_job_works_unopened,
    prologs_do_not_fail,
    back_means_empty,
    nothing_is_left,
    no_surprises,
)


def breaches(history: History, grace_s: float, stuck_s: float) -> list[tuple[str, str]]:
    """All breaches: the invariant's name, and what happened. Pods get `grace_s` to end; `stuck_s` is the gate's."""
    found = [(check.__name__, text) for check in SAFETY for text in check(history)]
    found += [(usable_in_time.__name__, text) for text in usable_in_time(history, grace_s)]
    return found + [(no_job_waits_permanently.__name__, text) for text in no_job_waits_permanently(history, stuck_s)]
