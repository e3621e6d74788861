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
    (step,) = plan(have, WANT)
    assert f"write a token of {WANT.subject}: {cause}" in step.reason
    assert step.becomes(have) == WANT


def test_a_good_token_stays() -> None:
    assert plan(replace(WANT, why="whatever"), WANT) == []
