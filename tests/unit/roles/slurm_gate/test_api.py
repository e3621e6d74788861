# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How long the API server is asked, and what is said when it gave no answer that means something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roles.slurm_gate.files.gate.api import Answer, Api, Unreachable
from tests.unit.roles.slurm_gate.cluster import StillClock


class Scripted(Api):
    """Answers by a script; the last one stays."""

    def __init__(self, token: Path, *answers: Answer | OSError) -> None:
        self.clock = StillClock()
        super().__init__("https://ctl:6443", "", str(token), 10.0, self.clock)
        self.answers = list(answers)

    def _request(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, OSError):
            raise answer
        return answer


GOOD, UNAUTHORIZED = Answer(200, {"kind": "Node"}), Answer(401, {"message": "Unauthorized"})
DOWN = ConnectionRefusedError("refused")


@pytest.mark.parametrize(
    ("before", "perhaps_done"), [(UNAUTHORIZED, False), (DOWN, True), (Answer(503, {}), True), (Answer(429, {}), False)]
)
def test_what_may_pass_is_asked_again(tmp_path: Path, before: Answer | OSError, perhaps_done: bool) -> None:
    assert Scripted(tmp_path, before, before, GOOD).call("GET", "/") == GOOD._replace(again=perhaps_done)
    assert Scripted(tmp_path, GOOD).call("GET", "/") == GOOD


def test_a_server_that_is_down_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="the API server at ctl:6443 does not answer: ConnectionRefusedError"):
        Scripted(tmp_path, UNAUTHORIZED, DOWN).call("GET", "/")


def test_a_token_that_has_expired_is_what_is_told_and_what_brings_a_new_one(tmp_path: Path) -> None:
    """The host was off for more than a day; the server answers all the time, so nobody must look at it."""
    token = tmp_path / "node.token"
    with pytest.raises(Unreachable) as caught:
        Scripted(token, DOWN, UNAUTHORIZED).call("GET", "/")
    assert str(caught.value) == f"the API server refuses the token in {token}; gate.yml brings a new one"


def test_a_server_that_answers_too_slowly_takes_no_longer_than_there_is_time(tmp_path: Path) -> None:
    """Each request comes to a good end; together they take for ever."""
    api = Scripted(tmp_path, GOOD)
    for _ in range(4):
        assert api.call("GET", "/") == GOOD
        api.clock.sleep(3.0)
    with pytest.raises(Unreachable, match="the API server at ctl:6443 takes too long: GET /"):
        api.call("GET", "/")
