# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight import state_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.state_io import (
    sentences,
    state,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output, Program
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.state_gpus import (
    GPU_CHECKS,
    NOT_COVERED,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Missing

from tests.unit.module_utils.preflight.test_io import nothing
from tests.unit.module_utils.preflight_site import WANT
from tests.unit.module_utils.proof.checks.healthy import NODE, OUTPUTS, SMI, TEXTS, words
from tests.unit.module_utils.proof.transcripts import changed

NODE_WANT = {**WANT, "state": NODE.as_dict()}
WIDTH = "/sys/class/infiniband/mlx5_1/device/current_link_width"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[Any, Any]:
    """What tools and files of a healthy node say, to be changed."""
    said: dict[Any, Any] = {**OUTPUTS, **TEXTS}

    def run(program: Program, scratch: Path) -> Output:
        assert scratch.is_dir() and program.seconds <= state_io.PROGRAM_S
        answer = said[words(program)]
        if isinstance(answer, Exception):
            raise answer
        return Output(answer, "", 0)

    monkeypatch.setattr(state_io, "run", run)
    monkeypatch.setattr(state_io, "read_all", lambda paths: {at: it for at, it in said.items() if isinstance(at, str)})
    return said


def test_a_healthy_node_has_no_fault_and_a_host_that_is_no_node_has_no_checks(answers: dict[Any, Any]) -> None:
    assert state(NODE_WANT, nothing) == {"gpus": [], "rails": []}
    assert state(WANT, nothing) == {"gpus": [], "rails": []}


def test_faults_are_named_with_their_place_and_warnings_are_not(answers: dict[Any, Any]) -> None:
    first, mark, second = answers[SMI].partition('<gpu id="00000000:1C')
    second = changed(second, "<remapped_row_pending>No", "<remapped_row_pending>Yes")
    answers[SMI] = first + mark + changed(second, "persistence_mode>Enabled", "persistence_mode>Disabled")
    answers[WIDTH] = "4"
    found = state(NODE_WANT, nothing)
    assert found["gpus"] == ["gpu01 GPU 1: GPU memory rows: a remapped row waits for a reset of the GPU"]
    [slow] = found["rails"]
    assert slow.startswith("gpu01 rail1: rail PCIe is 14.4 GB/s, below 50 GB/s")


def test_a_program_without_an_answer_is_one_that_hung(answers: dict[Any, Any]) -> None:
    answers[("ethtool", "-m", "rail0")] = OSError("no memory")
    [hung] = state(NODE_WANT, nothing)["rails"]
    assert hung.startswith("gpu01 rail0: optics: it hung")


def test_a_vendor_without_a_check_is_no_fault() -> None:
    found = [Missing(NOT_COVERED, "class h100", "GPU power limit"), Missing("GPU clocks", "gpu01", "no answer")]
    assert [*sentences(NODE, GPU_CHECKS[0], found)] == ["gpu01: GPU clocks: no answer"]
