# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Drift is seen, predicted exactly, and repaired: what --check announces is what the next run reports."""

from __future__ import annotations

import pytest

from .conftest import Lab

DRIFTS = {
    "nic": ("gpu01", "mlnx_qos -i rail3 --pfc 0,0,0,0,0,1,0,0"),
    "slurm": ("ctl", "sacctmgr -i remove user where name=ben account=vision"),
}


@pytest.mark.parametrize("playbook", DRIFTS)
def test_check_predicts_exactly_what_the_run_does(lab: Lab, playbook: str) -> None:
    lab.ssh(*DRIFTS[playbook])
    predicted = lab.playbook(playbook, "--check", "--diff")
    assert predicted.code == 0, predicted.output
    assert predicted.steps(), "the drift was not seen"
    repaired = lab.playbook(playbook, "--diff")
    assert repaired.code == 0, repaired.output
    assert (repaired.steps(), repaired.changed()) == (predicted.steps(), predicted.changed())
    assert lab.playbook(playbook, "--check").changed() == []
