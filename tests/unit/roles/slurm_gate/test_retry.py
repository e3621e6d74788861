# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate.retry import comment, count, explain, verdict
from roles.slurm_gate.files.gate.slurm import JobInfo

BATCH = JobInfo("CONFIGURING", batch=True, requeue=True)


@pytest.mark.parametrize(
    ("job", "number", "expected"),
    [
        (BATCH, 1, "requeue"),
        (BATCH, 4, "requeue"),
        (BATCH, 5, "hold"),
        (BATCH._replace(requeue=False), 1, "end"),
        (BATCH._replace(batch=False), 5, "end"),
        (JobInfo(), 1, "end"),
    ],
)
def test_verdicts(job: JobInfo, number: int, expected: str) -> None:
    assert verdict(job, number, tries=5) == expected


@pytest.mark.parametrize(
    ("before", "restart", "number"),
    [
        ("", 0, 1),
        ("call Ben", 3, 1),
        (comment("", explain("no answer", 2, 5, 6)), 7, 3),
        (comment("", explain("no answer", 2, 5, 6)), 6, 2),
        (comment("", explain("no answer", 2, 5, 6)), 8, 1),
        (comment("call Ben", explain("no answer", 4, 5, 6)), 7, 5),
    ],
    ids=["first", "a person wrote", "next in a row", "killed and run again", "one in between went well", "both"],
)
def test_tries_in_a_row_are_counted(before: str, restart: int, number: int) -> None:
    assert count(before, restart) == number


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "drawbridge gate: why"),
        ("drawbridge gate: old", "drawbridge gate: why"),
        ("call Ben", "call Ben | drawbridge gate: why"),
        ("call Ben | drawbridge gate: old", "call Ben | drawbridge gate: why"),
    ],
)
def test_what_a_person_wrote_stays(before: str, after: str) -> None:
    assert comment(before, "why") == after
