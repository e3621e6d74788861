# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes import new_plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.new_io import Records

from tests.unit.module_utils.answers import Answers

NAMES = ["gpu05", "gpu06"]
KNOWN = "NodeName=gpu05 State=UNKNOWN+NOT_RESPONDING\n"
IN_SERVICE = "NodeName=gpu05 State={}\nNodeName=gpu06 State={}\n"


def records(told: str, settle_s: float = 0) -> tuple[Records, Answers]:
    run = Answers({"scontrol show node gpu[05-06] -o": told, "scontrol update": ""})
    return Records(run, NAMES, settle_s), run


def test_a_node_in_service_may_miss_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    device, run = records(IN_SERVICE.format("MIXED*", "IDLE"), settle_s=600)
    later = {"scontrol show node gpu[05-06] -o": IN_SERVICE.format("MIXED", "IDLE")}
    monkeypatch.setattr("time.sleep", lambda seconds: run.table.update(later))
    assert new_plan.plan(device.read(), new_plan.drained(NAMES)) == []
    assert len(run.asked) == 2


@pytest.mark.parametrize("state", ["UNKNOWN*", "DOWN*", "IDLE+DRAIN+NOT_RESPONDING", "IDLE*"])
def test_who_is_new_away_or_silent_for_long_is_not_waited_for(state: str) -> None:
    device, run = records(IN_SERVICE.format(state, "IDLE"), settle_s=0 if state == "IDLE*" else 3600)
    assert device.read().nodes["gpu05"].state == state.split("+")[0].rstrip("*")
    assert len(run.asked) == 1


def test_a_node_that_slurm_ought_to_know_by_now_is_a_failure() -> None:
    device, run = records(KNOWN + "Node gpu06 not found\n")
    with pytest.raises(DeviceError, match="has no node gpu06 yet; run again"):
        device.apply(new_plan.plan(device.read(), new_plan.drained(NAMES)))
    assert len(run.asked) == 1
