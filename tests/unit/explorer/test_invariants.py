# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Invariants that no planted defect breaks, on a history that keeps them and on histories that break one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.explorer import invariants
from tests.explorer.invariants import breaches
from tests.explorer.records import (
    PERSON,
    Change,
    Container,
    Drain,
    History,
    Pod,
    Prolog,
    Right,
    Run,
)
from tests.mutants.table import read

HELD, DIRTY, CLOSED = "vision.7", "dirty_vision.7", "closed"
OURS = "drawbridge gate: not proven empty"
WHOSE, ANOTHERS = "slurm-7-u2001-g2001", "slurm-7-u2002-g2002"
FAILED = "drawbridge: prolog part 50-gate ended with code 1 in job 7"


def good() -> History:
    """A job of two nodes, from its start to its end."""
    return History(
        begun=dict.fromkeys("abc", CLOSED),
        changes=[
            *(Change(10, node, CLOSED, HELD, "7", "opener", account=WHOSE) for node in "ab"),
            *(Change(100, node, HELD, DIRTY, "", "reconciler") for node in "ab"),
            *(Change(110, node, DIRTY, CLOSED, "", node, looked=109) for node in "ab"),
        ],
        containers=[Container(node, f"p-{node}", "vision", 7, 0, 20, 105, WHOSE) for node in "ab"],
        unbound=[Pod("p-a", "vision", 7, 15, 18)],
        accounts=[Right("vision", 7, WHOSE, 11, 101)],
        rights=[Right("vision", 7, WHOSE, 11, 101), Right("vision", 7, WHOSE, 11, 102)],
        prologs=[Prolog(node, 7, 10, 11) for node in "ab"],
        runs=[Run(7, 0, "vision", ("a", "b"), 9, works=12, over=99, gone=111, account=WHOSE)],
        drains=[Drain(50, "a", "", "bad disk", PERSON), Drain(60, "a", "bad disk", "", PERSON, since=50)],
        end=600,
    )


def judged(history: History) -> set[str]:
    return {name for name, _ in breaches(history, grace_s=10, stuck_s=40)}


def test_a_job_like_any_other_breaks_nothing() -> None:
    assert breaches(good(), grace_s=10, stuck_s=40) == []


def changed(index: int, **fields: object) -> Callable[[History], None]:
    def change(history: History) -> None:
        history.changes[index] = history.changes[index]._replace(**fields)  # type: ignore[arg-type]

    return change


def added(kind: str, *records: object) -> Callable[[History], None]:
    return lambda history: getattr(history, kind).extend(records)


def run(**fields: object) -> Callable[[History], None]:
    def change(history: History) -> None:
        history.runs[0] = replace(history.runs[0], **fields)

    return change


CASES: list[tuple[str, Callable[[History], None]]] = [
    ("only_allowed_edges", changed(0, by="reconciler")),
    ("only_allowed_edges", changed(2, after="closed", by="a")),
    ("only_allowed_edges", changed(4, by="b")),
    ("only_allowed_edges", changed(4, by=PERSON)),
    ("only_allowed_edges", changed(0, before=DIRTY)),
    ("one_write_a_transition", added("changes", Change(200, "a", CLOSED, CLOSED, "", "a"))),
    ("opened_for_its_job", run(nodes=("a",))),
    ("opened_for_its_job", run(namespace="nlp")),
    ("opened_for_its_job", run(start=-60, gone=-51)),
    ("no_gpu_is_given_twice", added("runs", Run(8, 0, "", ("a",), 80, works=90, over=95))),
    ("no_gpu_is_given_twice", added("runs", Run(7, 1, "vision", ("a",), 80, works=90, over=95))),
    ("no_gpu_is_given_twice", added("containers", Container("a", "p-a", "vision", 7, 1, 50, 60))),
    ("no_gpu_is_given_twice", added("containers", Container("a", "p-a", "vision", 7, 0, 50, 60, ANOTHERS))),
    ("nothing_comes_after_closed", added("unbound", Pod("p", "vision", 7, 112, 120))),
    ("no_job_works_unopened", run(works=8.9)),
    ("no_job_works_unopened", run(batch=False, nodes=("a", "b", "c"))),
    ("no_surprises", added("surprises", "KeyError")),
]


@pytest.mark.parametrize(("name", "change"), CASES)
def test_what_breaks_an_invariant_is_seen(name: str, change: Callable[[History], None]) -> None:
    history = good()
    change(history)
    assert name in judged(history)


def test_every_invariant_has_a_case_or_a_planted_defect() -> None:
    names = {check.__name__ for check in invariants.SAFETY} | {"usable_in_time", "no_job_waits_permanently"}
    assert {name for name, _ in CASES} | {row.invariant for row in read() if row.invariant} == names
