# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands themselves, as Slurm gets them, and what is made of commands that fail."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from roles.slurm_gate.files.gate import slurm


class Commands:
    """Stands in for subprocess.run: notes what is asked, and ends as it is told."""

    def __init__(self, out: str = "", error: Exception | None = None, code: int = 0) -> None:
        self.out, self.error, self.code = out, error, code
        self.asked: list[list[str]] = []
        self.limits: list[float | None] = []

    def __call__(self, argv: list[str], check: bool = False, timeout: float | None = None, **_: Any) -> Any:
        self.asked.append(argv)
        self.limits.append(timeout)
        if self.error:
            raise self.error
        if check and self.code:
            raise subprocess.CalledProcessError(self.code, argv)
        return subprocess.CompletedProcess(argv, self.code, self.out, "")


def commands(monkeypatch: pytest.MonkeyPatch, **ends: Any) -> Commands:
    made = Commands(**ends)
    monkeypatch.setattr(slurm.subprocess, "run", made)
    return made


def states(argv: list[str]) -> set[str]:
    [word] = [word for word in argv if word.startswith("--states=")]
    return set(word.removeprefix("--states=").split(","))


def test_a_node_has_a_job_until_its_epilog_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = commands(monkeypatch, out="12\n").asked
    assert slurm.jobs_on("gpu01") == {12}
    assert states(asked[0]) >= {"R", "CF", "CG", "S"}
    assert "--nodelist=gpu01" in asked[0]


def test_a_job_is_over_once_it_completes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its central epilog is at work by then; the reconciler does no more than that."""
    asked = commands(monkeypatch).asked
    assert slurm.jobs_running() == set()
    assert states(asked[0]) == {"R", "CF", "S", "ST"}
    assert not [word for word in asked[0] if word.startswith("--nodelist")]


@pytest.mark.parametrize(
    "ends",
    [
        {"code": 1},
        {"error": FileNotFoundError("squeue")},
        {"error": subprocess.TimeoutExpired("squeue", 20)},
    ],
    ids=["fails", "is missing", "hangs"],
)
def test_whatever_goes_wrong_is_no_answer(ends: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    commands(monkeypatch, **ends)
    assert slurm.jobs_on("gpu01") is None
    assert slurm.jobs_running() is None


def test_every_question_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = commands(monkeypatch).limits
    slurm.jobs_on("gpu01")
    slurm.drain("gpu01", "look")
    slurm.comment(4711, "why")
    assert limits
    assert set(limits) == {slurm.TIMEOUT_S}


def test_a_node_whose_state_nobody_tells_is_not_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = commands(monkeypatch, code=1).asked
    slurm.resume("gpu01")
    assert [argv[0] for argv in asked] == ["/usr/bin/sinfo"]


def test_users_can_not_write_what_the_gate_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = commands(monkeypatch).asked
    slurm.comment(4711, "no answer")
    assert asked == [["/usr/bin/scontrol", "update", "jobid=4711", "admincomment=drawbridge gate: no answer"]]
