# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests to the API server: for how long, and until a node has another state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roles.slurm_gate.files.gate.api import Answer, Api, Unreachable
from roles.slurm_gate.files.gate.nodes import TRIES, Swap, swap
from roles.slurm_gate.files.gate.states import dirtying, opening
from tests.unit.roles.slurm_gate.cluster import JOB, POLICY, Cluster, StillClock, node

OPEN = opening(JOB.owner)


def test_another_place_in_the_list_is_found() -> None:
    cluster = Cluster()
    cluster.objects["/api/v1/nodes/gpu01"] = node(index=2)
    assert swap(cluster, "gpu01", OPEN).reached(OPEN)
    assert cluster.value("gpu01") == "vision.4711"


def test_another_owner_is_left_alone() -> None:
    cluster = Cluster(gpu01="speech.7")
    for edge in (OPEN, dirtying(JOB.owner)):
        assert swap(cluster, "gpu01", edge) == Swap("gpu01", "speech.7", False)
    assert cluster.value("gpu01") == "speech.7"


def test_a_removed_label_is_not_missed() -> None:
    cluster = Cluster(gpu01="vision.4711")
    cluster.objects["/api/v1/nodes/gpu01"]["metadata"]["labels"] = {}
    assert swap(cluster, "gpu01", dirtying(JOB.owner)).changed
    assert cluster.value("gpu01") == "dirty_vision.4711"


def test_a_policys_no_is_not_asked_again() -> None:
    cluster = Cluster()
    cluster.scripted["PATCH", "/api/v1/nodes/gpu01"] = [Answer(422, {"message": POLICY.format("transitions")})]
    assert "denied request" in swap(cluster, "gpu01", OPEN).error
    assert len(cluster.log) == 1


def test_a_node_that_others_write_all_the_time_is_given_up() -> None:
    cluster = Cluster()
    moves = iter(range(1, 100))

    def shuffle(method: str, path: str) -> None:
        if method == "PATCH":
            cluster.objects["/api/v1/nodes/gpu01"] = node(index=next(moves) % 2 + 1)

    cluster.before = shuffle
    assert f"{TRIES} times in a row" in swap(cluster, "gpu01", OPEN).error


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
def test_an_error_that_may_pass_is_retried(tmp_path: Path, before: Answer | OSError, perhaps_done: bool) -> None:
    assert Scripted(tmp_path, before, before, GOOD).call("GET", "/") == GOOD._replace(again=perhaps_done)
    assert Scripted(tmp_path, GOOD).call("GET", "/") == GOOD


def test_a_server_that_is_down_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="the API server at ctl:6443 does not answer: ConnectionRefusedError"):
        Scripted(tmp_path, UNAUTHORIZED, DOWN).call("GET", "/")


def test_the_error_names_an_expired_token_and_gate_yml(tmp_path: Path) -> None:
    """The host was off for more than a day; the server answers all the time, so no administrator must look at it."""
    token = tmp_path / "node.token"
    with pytest.raises(Unreachable) as caught:
        Scripted(token, DOWN, UNAUTHORIZED).call("GET", "/")
    assert str(caught.value) == f"the API server refuses the token in {token}; gate.yml brings a new one"


def test_a_server_that_answers_too_slowly_takes_no_longer_than_there_is_time(tmp_path: Path) -> None:
    """Each request comes to a good end; together they take too long."""
    api = Scripted(tmp_path, GOOD)
    for _ in range(4):
        assert api.call("GET", "/") == GOOD
        api.clock.sleep(3.0)
    with pytest.raises(Unreachable, match="the API server at ctl:6443 takes too long: GET /"):
        api.call("GET", "/")
