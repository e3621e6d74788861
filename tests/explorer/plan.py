# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a seed stands for: jobs, what becomes of them, and what fails when. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .steps import NEEDS, Need

NODES = ("gpu01", "gpu02", "gpu03")
TENANTS = (("vision", 2001), ("nlp", 2002))


class JobSpec(NamedTuple):
    """What a user submits."""

    partition: str = "ai-train"
    account: str = "vision"
    uid: int = 2001
    nodes: int = 1
    batch: bool = True
    requeue: bool = True
    works_s: float = 20.0
    pods: int = 1
    tidy: bool = True
    """Its script ends its own workloads."""
    workloads: int = 1
    """It makes so many, and deals its pods out to them."""
    task: int = 0
    """Which element of an array it is; its last one's number is the array's, too. 0: of none."""
    tasks: int = 0


class Event(NamedTuple):
    """Something that happens at a time, and perhaps ends after a while."""

    at: float
    name: str
    subject: Any = None
    lasts: float = 0.0


@dataclass(frozen=True)
class Plan:
    """One schedule."""

    seed: int
    jobs: tuple[tuple[float, JobSpec], ...]
    events: tuple[Event, ...]
    strikes: dict[tuple[str, str], tuple[str, int]]
    """Verb and step: the fault that hits it, at which of its calls."""
    over_at: float
    """All faults are repaired, all jobs are cancelled, and the bound begins to run."""
    skews: dict[str, float] = field(default_factory=dict)
    late_s: float = 0.0
    ghost_s: float = 0.0
    backoff_s: tuple[float, float] = (0.5, 5.0)
    prolog_waits: bool = True
    cancels_opener: bool = True
    exporters: bool = False
    """Infrastructure's pods hold the GPUs, too."""
    tries: int = 2

    def __str__(self) -> str:
        lines = [f"seed {self.seed}, wound up at {self.over_at:.0f} s"]
        lines += [f"  {at:6.1f} job {number}: {spec}" for number, (at, spec) in enumerate(self.jobs, 1)]
        lines += [f"  {it.at:6.1f} {it.name} {it.subject or ''} for {it.lasts:.1f} s" for it in self.events]
        lines += [f"  {fault} at call {nth} of {verb}: {step}" for (verb, step), (fault, nth) in self.strikes.items()]
        return "\n".join(lines)


FATES: dict[str, tuple[float, float]] = {
    "cancelled": (0, 0),
    "requeued": (0, 0),
    "requeued, its scripts again later": (2, 30),
    "its node is lost": (150, 240),
    "preempted": (0, 0),
    "timed out": (0, 0),
    "shrunk": (0, 0),
    "suspended": (2, 30),
    "forgotten, its number given again": (0.3, 30),
}
"""What becomes of a job, unless it just ends; and for how long."""
OUTAGES: dict[str, tuple[float, float]] = {
    "API server down": (3, 70),
    "API server slow": (3, 40),
    "policies missing": (5, 40),
    "slurmctld restarts": (0.3, 30),
    "slurmctld dies and forgets seconds": (0.3, 30),
    "slurmctld starts with an empty state": (0.3, 10),
    "slurmctld dies in a prolog and gives its number again": (0.3, 30),
    "slurmctld stops in a prolog and forgets it": (0.3, 30),
    "slurmctld starts a job beside its prolog": (0.3, 30),
    "controller loses power": (5, 60),
    "tools hang": (5, 45),
    "everything loses power": (10, 90),
}
"""What happens to all, and for how long."""
LOCAL: dict[str, tuple[float, float]] = {
    "slurmd killed": (0.5, 20),
    "slurmd killed in a prolog": (0.5, 20),
    "slurmd killed in an epilog": (0.5, 20),
    "slurmstepd hangs": (10, 120),
    "kubelet down": (3, 60),
    "node lost": (5, 220),
    "node loses power": (8, 220),
    "person releases": (5, 40),
    "person drains": (0, 0),
    "person resumes": (0, 0),
    "foreign taint first": (0, 0),
    "foreign taint gone": (0, 0),
    "foreign label": (0, 0),
    "pod deleted by force": (0, 0),
    "clock jumps": (0, 0),
    "controller's clock jumps": (0, 0),
    "foreign process on a GPU": (5, 60),
    "foreign pod": (5, 60),
}
"""What happens to one node."""


CROWD = "more pods than nodes"


def plan_of(seed: int, targets: Sequence[tuple[str, str, str]], focus: str = "") -> Plan:
    """The schedule of a seed. `targets` are (verb, step, fault): each is aimed at by every so manyth seed.

    `focus` is something that happens in each case.
    """
    rng = random.Random(seed)
    jobs = _jobs(rng, focus)
    strikes, need = _strikes(rng, seed, targets), None
    events = [*_fates(rng, len(jobs)), *_outages(rng), *_wanted(rng, len(jobs), focus)]
    if targets and (need := NEEDS.get(targets[seed % len(targets)][:2])):
        jobs[0] = (rng.uniform(0.6, 3.0), jobs[0][1]._replace(**need.job))
        strikes = {**{at: (fault, 1) for at, fault in need.strikes}, **strikes}
        events = [*(it for it in events if it.at > 40), *_needed(need, jobs[0])]
    last = max([it.at + it.lasts for it in events] + [at + spec.works_s for at, spec in jobs])
    return Plan(
        seed,
        tuple(jobs),
        tuple(sorted(events, key=lambda it: it.at)),
        strikes,
        last + rng.choice((5, 30, 60, 150, 250)) + (need.later if need else 0.0),
        skews={name: rng.choice((0.0, 0.0, -200.0, 3.0, 400.0)) for name in ("ctl", *NODES)},
        late_s=rng.choice((0, 0, 0.5, 3, 20)),
        ghost_s=rng.choice((0, 0, 0, 4, 40)),
        backoff_s=rng.choice(((0.02, 0.1), (0.5, 5.0), (5.0, 20.0))),
        prolog_waits=bool(need) or rng.random() < 0.5,
        cancels_opener=rng.random() < 0.5,
        exporters=rng.random() < 0.3,
        tries=1 if need else rng.choice((1, 2)),
    )


def _jobs(rng: random.Random, focus: str) -> list[tuple[float, JobSpec]]:
    """One to four, back to back or at once, or elements of an array."""
    jobs = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        account, uid = rng.choice(TENANTS)
        spec = JobSpec(
            partition="ai-train" if rng.random() < 0.8 else "hpc",
            account=account,
            uid=uid,
            nodes=rng.choice((1, 1, 2, 3)),
            batch=rng.random() < 0.75,
            requeue=rng.random() < 0.85,
            works_s=rng.choice((0.5, 3.0, 12.0, 40.0, 90.0, 150.0)),
            tidy=rng.random() < 0.5,
            workloads=rng.choice((1, 1, 1, 2)),
        )
        spec = spec._replace(pods=spec.nodes + rng.choice((0, 0, 0, 0, 0, 0, 1, 1, 3, -spec.nodes)))
        if focus == CROWD:
            spec = spec._replace(pods=spec.nodes + 1)
        copies, at = 3 if rng.random() < 0.1 else 1, rng.uniform(0, 30)
        array = [spec._replace(task=task, tasks=copies) for task in range(1, copies + 1)]
        jobs += [(at, it) for it in (array if copies > 1 else [spec])]
    return jobs


def _fates(rng: random.Random, jobs: int) -> list[Event]:
    count = rng.choice((0, 1, 1, 2))
    return [_event(rng, FATES, lambda: rng.randint(1, jobs)) for _ in range(count)]


def _wanted(rng: random.Random, jobs: int, focus: str) -> list[Event]:
    """The event in focus, once."""
    for table, subject in ((FATES, rng.randint(1, jobs)), (OUTAGES, None), (LOCAL, rng.choice(NODES))):
        if focus in table:
            return [Event(rng.uniform(1, 70), focus, subject, rng.uniform(*table[focus]))]
    return []


def _needed(need: Need, first: tuple[float, JobSpec]) -> list[Event]:
    """What has to happen together with the first job; to all nodes, since one of them will be its own."""
    start = first[0] + (first[1].works_s if need.at_end else 0.0)
    found = []
    for name, offset, lasts in need.events:
        subjects = NODES if name in LOCAL else (1,) if name in FATES else (None,)
        found += [Event(max(0.0, start + offset), name, subject, lasts) for subject in subjects]
    return found


def _outages(rng: random.Random) -> list[Event]:
    found = []
    for table, count, subject in (
        (OUTAGES, rng.choice((0, 0, 1, 1, 2)), lambda: None),
        (LOCAL, rng.choice((0, 0, 1, 1, 2, 3)), lambda: rng.choice(NODES)),
    ):
        found += [_event(rng, table, subject) for _ in range(count)]
    return found


def _event(rng: random.Random, table: dict[str, tuple[float, float]], subject: Callable[[], Any]) -> Event:
    name = rng.choice(list(table))
    return Event(rng.uniform(0.5, 90), name, subject(), rng.uniform(*table[name]))


def _strikes(
    rng: random.Random, seed: int, targets: Sequence[tuple[str, str, str]]
) -> dict[tuple[str, str], tuple[str, int]]:
    """Faults at single steps: one that is this seed's turn, and others by chance."""
    if not targets:
        return {}
    turn = targets[seed % len(targets)]
    chosen = [turn, *(rng.choice(targets) for _ in range(rng.choice((0, 1, 2, 3))))]
    found = {(verb, step): (fault, rng.choice((1, 1, 1, 2, 3))) for verb, step, fault in reversed(chosen)}
    return {**found, turn[:2]: (turn[2], rng.choice((1, 1, 1, 1, 2)))}
