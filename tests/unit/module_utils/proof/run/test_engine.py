# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which checks run on which nodes, in which order, and what a lost answer means; test_prove.py has whole proofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    ALONE,
    LOAD,
    SAMPLE,
    STATE,
    TOGETHER,
    Check,
    Program,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import engine
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.engine import Engine
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.progress import Progress
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import Answer, Request
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.settings import Settings

from .pretended import START, Kept, Slurm, settings

NAMES = [f"n{number:05}" for number in range(4)]


def row(name: str, kind: str = LOAD, when: str = ALONE, seconds: float = 5.0) -> Check:
    return Check(
        *(name, kind, "", "" if when == ALONE else engine.FILES, lambda node: node.node_class == "big", lambda *_: []),
        programs=lambda _: [Program((name,), seconds)],
        when=when,
    )


ROWS = [row("a", STATE), row("each"), row("one", when=SAMPLE), row("all", when=TOGETHER), row("b", STATE)]


class Answering(Slurm):
    """Nodes that answer checks by a table of name and node, and have no network to test."""

    def __init__(self, **answers: Mapping[str, Found | str | None]) -> None:
        super().__init__(NAMES)
        self.table: Mapping[str, Mapping[str, Any]] = answers
        self.jobs: list[tuple[str, str, float]] = []

    def ask(self, request: Request, names: Sequence[str], limit_s: float) -> Mapping[str, Answer]:
        self._call("ask")
        self.asked.append(request)
        if request.tests:
            return super().ask(request, names, limit_s)
        self.jobs.append((" ".join(request.checks), " ".join(it[-1] for it in names), limit_s))
        found = {name: self._answer_of(request, name) for name in names}
        return {name: it for name, it in found.items() if it is not None}

    def _answer_of(self, request: Request, name: str) -> Answer | None:
        said: dict[str, Any] = {check: self.table.get(check, {}).get(name, ...) for check in request.checks}
        if None in said.values():
            return None
        errors = [it for it in said.values() if isinstance(it, str)]
        found: dict[str, list[Found]] = {check: [] if it is ... else [it] for check, it in said.items()}
        return Answer(name, {} if errors else found, {"kernel": "6"} if request.depends else {}, "".join(errors))


def run(slurm: Slurm, own: Settings | None = None, rows: Sequence[Check] = ROWS, **fields: Any) -> Progress:
    own = own or settings(4, per_unit=4)
    progress = Progress(own.digest, START.isoformat(), list(NAMES), {}, **fields)
    slurm.reserve(NAMES)
    Engine(own, slurm, Kept(slurm), progress, lambda _line: None, rows).run()
    return progress


def test_states_come_first_and_file_systems_last() -> None:
    slurm = Answering()
    progress = run(slurm)
    assert progress.complete
    jobs = [("a b", "0 1 2 3", 10), ("each", "0 1 2 3", 5), ("one", "0", 5), ("all", "0 1 2 3", 5)]
    assert slurm.jobs == [(checks, names, engine.START_S + seconds) for checks, names, seconds in jobs]
    fabric = [at for at, it in enumerate(slurm.asked) if it.tests]
    assert fabric and fabric[-1] == len(slurm.asked) - 3
    assert progress.depends == {name: {"kernel": "6"} for name in NAMES}


def test_a_node_with_a_fault_is_measured_no_more() -> None:
    slurm = Answering(a={"n00000": Missing("a", "n00000", "why")}, each={"n00001": Missing("each", "n00001", "why")})
    progress = run(slurm)
    assert [names for _checks, names, _limit in slurm.jobs] == ["0 1 2 3", "1 2 3", "2", "2 3"]
    assert not [it for it in slurm.asked for test in it.tests if {"n00000", "n00001"} & {*test.nodes}]
    assert progress.failed.keys() == {"n00000", "n00001"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [(None, "its job on this node did not end with an answer"), ("OSError: no space", "OSError: no space")],
)
def test_a_node_that_gives_no_answer_has_a_finding(answer: str | None, why: str) -> None:
    progress = run(Answering(a={"n00002": answer}))
    (found,) = progress.findings
    assert (found.nodes, found.kind, found.text) == (("n00002",), "missing", f"n00002 gave no answer: {why}")


def test_a_result_that_an_answer_lacks_is_missing() -> None:
    class Forgetful(Answering):
        def _answer_of(self, request: Request, name: str) -> Answer | None:
            return replace(super()._answer_of(request, name) or Answer(name), found={})

    assert {it.kind for it in run(Forgetful(), rows=[row("a", STATE)]).findings} == {"missing"}


def test_checks_that_apply_to_no_class_run_nowhere_and_states_run_all_the_same() -> None:
    slurm, rows = Answering(), [replace(it, applies=lambda _: False) for it in ROWS]
    run(slurm, rows=rows)
    assert [checks for checks, _names, _limit in slurm.jobs] == [""]


def test_stages_that_have_run_do_not_run_again() -> None:
    slurm = Answering()
    run(slurm, stages=["state of nodes", "each", "fabric"])
    assert [checks for checks, _names, _limit in slurm.jobs] == ["one", "all"]
    assert not [it for it in slurm.asked if it.tests]


def test_a_measure_far_from_those_of_its_class_is_a_finding() -> None:
    rates = {name: Measure("rate", 5.0 if name == "n00003" else 10.0, "GB/s", name) for name in NAMES}
    progress = run(Answering(each=rates))
    assert len(progress.measures) >= 4
    assert {it.value for key, it in progress.measures.items() if key[:2] == ("each", "rate")} == {5.0, 10.0}


def test_uplinks_that_are_not_known_are_a_warning() -> None:
    slurm = Slurm(NAMES)
    progress = run(slurm, settings(4, per_unit=2, uplinks={"u0r0": 800}), rows=())
    (found,) = progress.findings
    assert (found.warning, found.leaves) == (True, ("u0r1", "u1r0", "u1r1"))


def test_a_job_without_an_answer_runs_again() -> None:
    class Deaf(Answering):
        deaf = 2

        def ask(self, request: Request, names: Sequence[str], limit_s: float) -> Mapping[str, Answer]:
            self.deaf -= 1
            return {} if self.deaf >= 0 else super().ask(request, names, limit_s)

    assert run(Deaf()).findings == []
    Deaf.deaf = 3
    with pytest.raises(DeviceError, match=r"no node of n\[00000-00003\] answered in 3 jobs"):
        run(Deaf())


@pytest.mark.parametrize("divided", [False, True])
def test_divided_gpus_take_no_part_in_collectives(divided: bool) -> None:
    """A task for each GPU would find instances, or no GPU at all."""

    tasks: list[int] = []

    class Collecting(Slurm):
        def collective(self, tests: Sequence[Any], node: ProofNode, limit_s: float) -> Mapping[int, Sequence[Found]]:
            tasks.append(node.gpus)
            return {}

    own = settings(4, per_unit=4)
    own.raw["classes"]["big"] |= {"gpus": 8, "tools": {"nccl_tests": "/opt"}, **({"instances": 14} if divided else {})}
    run(Collecting(NAMES), own, rows=())
    assert {*tasks} == (set() if divided else {8})


def test_passports_are_given_to_their_nodes() -> None:
    class Refusing(Slurm):
        def ask(self, request: Request, names: Sequence[str], limit_s: float) -> Mapping[str, Answer]:
            found = super().ask(request, names, limit_s)
            return {name: replace(it, error="not signed" if name == "n00002" else "") for name, it in found.items()}

    slurm, own = Refusing(NAMES, silent={"n00001"}), settings(4)
    slurm.reserve(NAMES)
    it = Engine(own, slurm, Kept(slurm), Progress(own.digest, "", list(NAMES), {}), lambda _line: None, ())
    assert it.deliver({}) == []
    some = {name: (f"text of {name}", "signature", "key") for name in NAMES[:3]}
    assert it.deliver(some) == ["n00000"]
