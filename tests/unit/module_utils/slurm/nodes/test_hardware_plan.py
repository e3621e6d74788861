# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.hardware_plan import (
    HardwareState,
    Machine,
    difference,
    plan,
)

CLASS = Machine(2, 56, 2, 2050000, 8)
WANT = HardwareState("gpu01", CLASS)


@pytest.mark.parametrize("machine", [CLASS, replace(CLASS, memory_mib=2064384), replace(CLASS, listed=8)])
def test_what_the_class_promises_is_right_and_so_is_a_little_more_memory(machine: Machine) -> None:
    assert plan(replace(WANT, machine=machine), WANT) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"gpus": 7}, "7 GPUs instead of 8"),
        ({"gpus": 10}, "10 GPUs instead of 8"),
        ({"listed": 7}, "7 GPUs in the driver's list instead of 8"),
        ({"gpus": 7, "listed": 7}, "7 GPUs instead of 8"),
        ({"sockets": 1}, "1 sockets instead of 2"),
        ({"threads_per_core": 1}, "1 threads a core instead of 2"),
        ({"cores_per_socket": 48}, "48 cores a socket instead of 56"),
        ({"memory_mib": 1984464}, "1984464 MiB of memory instead of 2050000"),
        ({"gpus": 0, "sockets": 1}, "1 sockets instead of 2, 0 GPUs instead of 8"),
    ],
)
def test_anything_else_keeps_jobs_away_with_its_reason(change: dict[str, int], found: str) -> None:
    have = replace(WANT, machine=replace(CLASS, **change))
    assert difference(have.machine, CLASS) == found
    (step,) = plan(have, WANT)
    assert step.payload == f"drawbridge: hardware: {found}"
    assert plan(step.becomes(have), WANT) == []


def test_a_drain_that_is_there_keeps_its_reason() -> None:
    assert plan(replace(WANT, machine=replace(CLASS, gpus=7), kept_back="power work"), WANT) == []


def test_nobody_is_asked_to_drain_what_the_controller_does_not_know() -> None:
    assert plan(replace(WANT, machine=replace(CLASS, gpus=7), answers=False), WANT) == []


def test_the_diff_shows_machine_and_drain() -> None:
    machine = "NodeName=gpu01 Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=2050000 GPUs=8"
    assert WANT.lines() == [machine]
    assert replace(WANT, kept_back="x").lines() == [machine, "Reason=x"]
