# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes import ready_io, ready_plan

from tests.unit.module_utils.answers import Answer, Answers

MATCH = "HASH_VAL = Match\n"


def node(line: Answer, config: str = MATCH, settle_s: float = 0) -> tuple[ready_io.Node, Answers]:
    run = Answers({"scontrol show node": line, "scontrol show config": config, "scontrol update": ""})
    return ready_io.Node(run, "gpu01", "gpu:h100:8", str, settle_s), run


def shown(state: str = "IDLE", gres: str = "gpu:h100:8(S:0-1)", reason: str = "") -> str:
    return f"NodeName=gpu01 Gres={gres} State={state} Reason={reason}\n"


@pytest.mark.parametrize(
    ("line", "config", "sentence"),
    [
        (shown("IDLE+DRAIN+INVALID_REG", reason="Low RealMemory"), MATCH, "with less than its class has"),
        (shown("UNKNOWN*"), MATCH, "has not registered with the controller"),
        (shown("IDLE*"), MATCH, "has not registered with the controller"),
        (shown(gres="gpu:h100:4"), MATCH, "with gres gpu:h100:4, but gpu:h100:8 is intended"),
        (shown(gres="(null)"), MATCH, "with gres none, but gpu:h100:8 is intended"),
        (shown(), "HASH_VAL = Different Ours=0x1 Slurmctld=0x2", "runs with another slurm.conf"),
        (DeviceError("scontrol failed: Node gpu01 not found", rc=1), MATCH, "has no state of gpu01"),
    ],
)
def test_a_wrong_registration_is_a_sentence(line: Answer, config: str, sentence: str) -> None:
    with pytest.raises(DeviceError, match=sentence):
        node(line, config)[0].read()


def test_a_late_registration_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    device, run = node(shown("UNKNOWN*"), settle_s=30)
    monkeypatch.setattr("time.sleep", lambda seconds: run.table.update({"scontrol show node": shown()}))
    assert device.read() == ready_plan.ready("gpu01")


def test_less_hardware_is_not_waited_for() -> None:
    device, run = node(shown("IDLE+DRAIN+INVALID_REG"), settle_s=3600)
    with pytest.raises(DeviceError):
        device.read()
    assert len(run.asked) == 1


@pytest.mark.parametrize(
    ("line", "fails"), [(shown(reason="drawbridge: health: fs1 [root@now]"), False), (shown("IDLE+DRAIN"), True)]
)
def test_a_node_that_its_health_check_has_just_resumed_is_resumed(line: str, fails: bool) -> None:
    device, run = node(shown("IDLE+DRAIN", reason="drawbridge: health: fs1 [root@now]"))
    steps = ready_plan.plan(device.read(), ready_plan.ready("gpu01"))
    refusal = DeviceError("scontrol failed: slurm_update error: Invalid node state specified", rc=1)
    run.table |= {"scontrol show node": line, "scontrol update": refusal}
    with pytest.raises(DeviceError, match="Invalid node state") if fails else nullcontext():
        device.apply(steps)
    assert steps


def test_a_node_without_a_passport_is_kept_with_that_reason() -> None:
    run = Answers({"scontrol show node": shown(), "scontrol show config": MATCH, "scontrol update": ""})
    device = ready_io.Node(run, "gpu01", "gpu:h100:8", str, 0, lambda: "it has no passport")
    run.table["scontrol show node"] = shown("IDLE+DRAIN", reason=f"{ready_plan.JOINING} [root@now]")
    device.apply(ready_plan.plan(device.read(), ready_plan.ready("gpu01"))[:1])
    reason = "drawbridge: health: 60-passport: it has no passport"
    assert run.asked[-1] == f"scontrol update nodename=gpu01 state=drain reason={reason}"


def test_the_health_check_of_a_node_with_passports_leaves_that_part_out() -> None:
    run = Answers({"/health --look": ""})
    for without in (False, True):
        ready_io.check_health(run, "/health", without)
    assert run.asked == ["/health --look", "/health --look --without 60-passport"]


def test_a_registered_node_is_ready_when_it_is_healthy() -> None:
    table = {"scontrol show node": shown(), "scontrol show config": MATCH}
    well, ill = (
        partial(ready_io.check_health, Answers({"/health --look": out}), "/health") for out in ("\n", "/fs1 hangs\n")
    )
    assert ready_io.Node(Answers(table), "gpu01", "gpu:h100:8", well, 3600).read() == ready_plan.ready("gpu01")
    with pytest.raises(DeviceError, match=r"gpu01 is not healthy \(/fs1 hangs\); repair that"):
        ready_io.Node(Answers(table), "gpu01", "gpu:h100:8", ill, 3600).read()
