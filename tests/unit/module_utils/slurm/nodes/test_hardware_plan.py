# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes import hardware_plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.model import Machine

CLASS = Machine(2, 56, 2, 2050000, 8)
WANT = hardware_plan.HardwareState("gpu01", CLASS)
LESS = replace(WANT, machine=replace(CLASS, gpus=7))


@pytest.mark.parametrize("have", [WANT, replace(WANT, machine=replace(CLASS, memory_mib=2064384), listed=8)])
def test_the_hardware_of_the_class_and_more_memory_are_right(have: hardware_plan.HardwareState) -> None:
    assert hardware_plan.plan(have, WANT) == []


@pytest.mark.parametrize(
    ("change", "listed", "found"),
    [
        ({"gpus": 10}, None, "10 GPUs instead of 8"),
        ({}, 7, "7 GPUs in the driver's list instead of 8"),
        ({"gpus": 7}, 7, "7 GPUs instead of 8"),
        ({"threads_per_core": 1}, 8, "1 threads a core instead of 2"),
        ({"cores_per_socket": 48}, 8, "48 cores a socket instead of 56"),
        ({"memory_mib": 1984464}, 8, "1984464 MiB of memory instead of 2050000"),
        ({"gpus": 0, "sockets": 1}, None, "1 sockets instead of 2, 0 GPUs instead of 8"),
    ],
)
def test_a_difference_drains_the_node_with_both_numbers(change: dict[str, int], listed: int | None, found: str) -> None:
    have = replace(WANT, machine=replace(CLASS, **change), listed=listed)
    assert hardware_plan.difference(have, CLASS) == found
    (step,) = hardware_plan.plan(have, WANT)
    assert step.payload == f"drawbridge: hardware: {found}"
    assert hardware_plan.plan(step.becomes(have), WANT) == []


@pytest.mark.parametrize("have", [replace(LESS, drain_reason="power work"), replace(LESS, known=False)])
def test_an_existing_drain_keeps_its_reason_and_an_unknown_node_gets_none(have: hardware_plan.HardwareState) -> None:
    assert hardware_plan.plan(have, WANT) == []


def test_the_diff_shows_machine_and_drain() -> None:
    machine = "NodeName=gpu01 Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=2050000 GPUs=8"
    assert replace(WANT, drain_reason="x").lines() == [machine, "Reason=x"]


def test_lost_gpus_and_those_of_another_vendor_are_named() -> None:
    machine = Machine(2, 32, 2, 2064384, 8)
    state = hardware_plan.HardwareState("gpu01", machine, lost=("/dev/dri/renderD144",), foreign={"amd": 8})
    found = hardware_plan.difference(state, machine)
    assert found == "no GPU at /dev/dri/renderD144, 8 GPUs of amd, which its class has not"
