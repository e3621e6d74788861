# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.tokens.plan import TokenState, plan

WANT = TokenState("system:serviceaccount:drawbridge-nodes:gpu01", True, "root", "0400")


@pytest.mark.parametrize(
    ("have", "cause"),
    [
        (TokenState("", False, "none", "none", why="there is none"), "there is none"),
        (
            replace(WANT, subject="system:serviceaccount:drawbridge-nodes:gpu02"),
            "it is the token of system:serviceaccount",
        ),
        (replace(WANT, lasts=False), "the present token ends soon"),
        (replace(WANT, mode="0444"), "it is root's with mode 0444"),
        (replace(WANT, owner="slurm"), "it is slurm's with mode 0400"),
    ],
)
def test_the_step_says_why(have: TokenState, cause: str) -> None:
    (step,) = plan(have, WANT, handed_over=True)
    assert f"write a token of {WANT.subject}: {cause}" in step.reason
    assert step.becomes(have) == WANT
    assert not step.pending


def test_a_good_token_stays() -> None:
    assert plan(replace(WANT, why="whatever"), WANT, handed_over=False) == []


def test_without_a_token_in_hand_the_need_is_announced() -> None:
    (step,) = plan(replace(WANT, lasts=False), WANT, handed_over=False)
    assert step.pending == "no token was handed over"
