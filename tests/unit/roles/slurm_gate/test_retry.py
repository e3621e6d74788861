# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate.retry import comment, count, explain


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
