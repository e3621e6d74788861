# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate import slurm


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    return []


def answering(monkeypatch: pytest.MonkeyPatch, told: list[tuple[str, ...]], answer: str | None) -> None:
    def ask(tool: str, *words: str) -> str | None:
        told.append((tool, *words))
        return answer if tool != "scontrol" else ""

    monkeypatch.setattr(slurm, "_ask", ask)


@pytest.mark.parametrize(
    ("reason", "drains", "resumes"),
    [("none\n", 1, 0), ("bad disk, call Ben\n", 0, 0), ("drawbridge gate: not proven empty\n", 0, 1), (None, 1, 0)],
)
def test_a_foreign_drain_is_neither_replaced_nor_lifted(
    reason: str | None, drains: int, resumes: int, told: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, told, reason)
    slurm.drain("gpu01", "look")
    slurm.resume("gpu01")
    updates = [words[3] for words in told if words[0] == "scontrol"]
    assert updates == ["state=drain"] * drains + ["state=resume"] * resumes


@pytest.mark.parametrize(("answer", "jobs"), [("", set()), ("12\n13\n", {12, 13}), (None, None)])
def test_no_answer_is_not_no_job(
    answer: str | None, jobs: set[int] | None, told: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, told, answer)
    assert slurm.jobs_on("gpu01") == jobs
