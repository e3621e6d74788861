# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.priority import priority
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Slurm

from tests.unit.module_utils.site.test_refused import site

RAW = site("lab")["drawbridge_slurm"]


@pytest.mark.parametrize(("mode", "rendered"), [("requeue", "REQUEUE"), ("cancel", "CANCEL")])
def test_jobs_that_are_pushed_aside_end(mode: str, rendered: str) -> None:
    slurm: Slurm = part("slurm", {**RAW, "preempt_mode": mode})
    assert priority(slurm)["PreemptMode"] == rendered


def test_shares_and_qos_count_by_weight() -> None:
    settings = priority(part("slurm", RAW))
    assert settings["PriorityType"] == "priority/multifactor"
    assert settings["PriorityCalcPeriod"] == 1
    assert settings["PriorityWeightQOS"] == 1000000
