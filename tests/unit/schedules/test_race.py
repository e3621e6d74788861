# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from roles.slurm_gate.files.gate.states import Owner
from tests.schedules.race import outcome, workload
from tests.unit.schedules.test_records import GATE, OWN, at, binding, pod, stamp, swap

RUNNING = {"running": {"startedAt": stamp(3.3)[:19] + "Z"}}
OPENED, DIRTY = swap(1, 5, GATE + "opener", "closed", "vision.7"), swap(3, 8, OWN, "vision.7", "dirty_vision.7")
CLOSED = swap(6, 20, OWN, "dirty_vision.7", "closed")
MADE = pod(2, 6, "create", spec={})
REFUSED = pod(3.5, 10, status={"phase": "Failed", "reason": "NodeAffinity"})
GONE = pod(4, 12, "delete", metadata={"deletionGracePeriodSeconds": 0})


def test_a_pod_that_is_bound_late_and_refused_is_no_harm() -> None:
    found = outcome([OPENED, MADE, DIRTY, binding(3.2, "gpu01"), REFUSED, GONE, CLOSED], at(9))
    assert found == (1, 1, 1, 0, [])


def test_nor_is_one_whose_kubelet_had_not_heard_and_that_ended_before_its_node_was_closed() -> None:
    runs = pod(3.6, 10, states=[RUNNING])
    found = outcome([OPENED, MADE, DIRTY, binding(3.2, "gpu01"), runs, GONE, CLOSED], at(9))
    assert found == (1, 1, 0, 1, [])


def test_a_pod_that_is_bound_when_its_kubelet_must_have_heard_and_runs_is() -> None:
    runs = pod(9.2, 10, states=[{"running": {"startedAt": stamp(8.9)[:19] + "Z"}}])
    gone = pod(9.5, 12, "delete", metadata={"deletionGracePeriodSeconds": 0})
    closed = swap(10, 20, OWN, "dirty_vision.7", "closed")
    found = outcome([OPENED, MADE, DIRTY, binding(8.5, "gpu01"), runs, gone, closed], at(13))
    assert found.wrong == ["slurm-7-r1-x-0 was bound 5.5 s late and ran"]


def test_a_pod_that_outlives_the_closing_is() -> None:
    runs = pod(2.8, 7, states=[RUNNING])
    found = outcome([OPENED, MADE, binding(2.2, "gpu01"), runs, DIRTY, CLOSED], at(9))
    assert found.late == 0
    assert any("ran while gpu01 was 'closed'" in text for text in found.wrong)
    assert any("was closed while" in text for text in found.wrong)


def test_a_node_is_not_closed_while_a_pod_still_waits() -> None:
    found = outcome([OPENED, MADE, DIRTY, CLOSED], at(9))
    assert found.wrong and "waited for a node" in found.wrong[0]


def test_racers_are_pods_of_their_job() -> None:
    body = workload(Owner("vision", 7), "slurm-7-u2001-g3001", 2)
    assert body["metadata"]["name"] == "slurm-7-r0-race2"
    assert body["spec"]["template"]["spec"]["tolerations"][0]["value"] == "vision.7"
