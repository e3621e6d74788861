# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from roles.slurm_gate.files.gate.api import Answer
from roles.slurm_gate.files.gate.nodes import TRIES, Swap, swap
from roles.slurm_gate.files.gate.states import dirtying, opening
from tests.unit.roles.slurm_gate.cluster import JOB, POLICY, Cluster, node

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


def test_a_label_that_somebody_took_off_is_not_missed() -> None:
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
