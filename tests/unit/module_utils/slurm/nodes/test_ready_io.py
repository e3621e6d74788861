# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.ready_io import Node, illness
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.ready_plan import (
    NodeState,
    plan,
    ready,
)

from tests.unit.module_utils.answers import Answer, Answers

MATCH = "HASH_VAL = Match\n"


def node(line: Answer, config: str = MATCH, settle_s: float = 0) -> tuple[Node, Answers]:
    run = Answers({"scontrol show node": line, "scontrol show config": config, "scontrol update": ""})
    return Node(run, "gpu01", "gpu:h100:8", str, settle_s), run


def told(state: str = "IDLE", gres: str = "gpu:h100:8(S:0-1)", reason: str = "") -> str:
    return f"NodeName=gpu01 Gres={gres} State={state} Reason={reason}\n"


def test_a_node_with_all_that_it_should_have() -> None:
    assert node(told())[0].read() == ready("gpu01")


@pytest.mark.parametrize(
    ("line", "config", "sentence"),
    [
        (told("IDLE+DRAIN+INVALID_REG", reason="Low RealMemory"), MATCH, "with less than its class has"),
        (told("UNKNOWN*"), MATCH, "has not registered with the controller"),
        (told("IDLE*"), MATCH, "has not registered with the controller"),
        (told(gres="gpu:h100:4"), MATCH, "with gres gpu:h100:4, but gpu:h100:8 is intended"),
        (told(gres="(null)"), MATCH, "with gres none, but gpu:h100:8 is intended"),
        (told(), "HASH_VAL = Different Ours=0x1 Slurmctld=0x2", "runs with another slurm.conf"),
        (DeviceError("scontrol failed: Node gpu01 not found", rc=1), MATCH, "does not tell about gpu01"),
    ],
)
def test_what_a_person_must_mend_is_a_sentence(line: Answer, config: str, sentence: str) -> None:
    with pytest.raises(DeviceError, match=sentence):
        node(line, config)[0].read()


def test_a_late_registration_is_waited_for() -> None:
    device, run = node(told("UNKNOWN*"), settle_s=30)
    problem = device._problem

    def registers_after_one_look(found: NodeState) -> str:
        run.table["scontrol show node"] = told()
        return problem(found)

    device._problem = registers_after_one_look
    assert device.read() == ready("gpu01")


def test_less_hardware_is_not_waited_for() -> None:
    device, run = node(told("IDLE+DRAIN+INVALID_REG"), settle_s=3600)
    with pytest.raises(DeviceError):
        device.read()
    assert len(run.asked) == 1


def test_a_node_that_slurm_gave_up_is_resumed() -> None:
    device, run = node(told("DOWN", reason="Not responding [slurm@now]"))
    device.apply(plan(device.read(), ready("gpu01")))
    assert run.asked[-1] == "scontrol update nodename=gpu01 state=resume"


@pytest.mark.parametrize(
    ("line", "fails"), [(told(reason="drawbridge: health: fs1 [root@now]"), False), (told("IDLE+DRAIN"), True)]
)
def test_a_node_that_somebody_else_has_just_resumed_is_resumed(line: str, fails: bool) -> None:
    device, run = node(told("IDLE+DRAIN", reason="drawbridge: health: fs1 [root@now]"))
    steps = plan(device.read(), ready("gpu01"))
    refusal = DeviceError("scontrol failed: slurm_update error: Invalid node state specified", rc=1)
    run.table |= {"scontrol show node": line, "scontrol update": refusal}
    with pytest.raises(DeviceError, match="Invalid node state") if fails else nullcontext():
        device.apply(steps)
    assert steps


def test_a_registered_node_is_ready_when_it_is_healthy() -> None:
    table = {"scontrol show node": told(), "scontrol show config": MATCH}
    well, ill = (partial(illness, Answers({"/health --look": out}), "/health") for out in ("\n", "/fs1 hangs\n"))
    assert Node(Answers(table), "gpu01", "gpu:h100:8", well, 3600).read() == ready("gpu01")
    with pytest.raises(DeviceError, match=r"gpu01 is not healthy \(/fs1 hangs\); mend that"):
        Node(Answers(table), "gpu01", "gpu:h100:8", ill, 3600).read()
