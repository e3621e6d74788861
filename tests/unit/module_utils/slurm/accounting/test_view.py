# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting import model, view

from tests.unit.module_utils.lab import SLURM

TERMS = {"parent": "root", "fairshare": "1"}


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


def test_a_budget_is_in_minutes_and_does_not_decay() -> None:
    budget = model.Budget(gpu_hours=500, node_hours=0, period="month")
    found = view.qos_terms(model.Qos("q", flags=("DenyOnLimit",), budget=budget))
    assert found == {
        **view.qos_terms(model.Qos("q")),
        **{"Flags": "DenyOnLimit,NoDecay", "GraceTime": "0", "UsageFactor": "1"},
        "GrpTRESMins": "gres/gpu=30000,node=0",
    }
    assert view.qos_terms(model.Qos("q", flags=("NoDecay",), budget=budget))["Flags"] == "NoDecay"


def test_a_budget_without_limits_keeps_others_out() -> None:
    """It is how a site says that no QOS has one any more."""
    found = view.qos_terms(model.Qos("q", budget=model.Budget()))
    assert "GrpTRESMins" not in found and "Flags" not in found
    assert (found["GraceTime"], found["UsageFactor"]) == ("0", "1")


def test_an_account_says_who_charges_it_and_until_when() -> None:
    accounts = (
        model.Account("a", groups=("people",), ends="2027-03-31"),
        model.Account("b", closed=True, submits=7),
        model.Account("c", users=model.SITE),
    )
    found = view.accounting(replace(SLURM, accounts=accounts, qos=()))["accounts"]
    assert found[0] == {"name": "a", "users": [], "groups": ["people"], "ends": "2027-03-31", "terms": TERMS}
    assert found[1] == {"name": "b", "users": [], "terms": {**TERMS, "GrpSubmitJobs": "0"}}
    assert found[2] == {"name": "c", "keep_users": True, "terms": TERMS}
