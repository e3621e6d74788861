# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting import model, view


def test_gpus_are_what_sacctmgr_calls_them_and_none_is_not_no_limit() -> None:
    assert view.tres(model.Amount(gpus=0, memory_mib=2048)) == "mem=2048,gres/gpu=0"
    assert view.tres(model.Amount()) == ""


def test_only_limits_that_are_set_are_rendered() -> None:
    assert view.account_terms(model.Account("a", jobs=0, max_time="30")) == {
        **{"parent": "root", "fairshare": "1"},
        **{"GrpJobs": "0", "MaxWall": "30"},
    }
    urgent = model.Qos("urgent", 100, ("normal",), "cancel", per_user=model.Amount(gpus=16), submits_per_user=3)
    assert view.qos_terms(urgent) == {
        "Priority": "100",
        "Preempt": "normal",
        "PreemptMode": "cancel",
        "MaxTRESPerUser": "gres/gpu=16",
        "MaxSubmitJobsPerUser": "3",
    }
