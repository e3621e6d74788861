# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Projects in variables of their own, and the keys that their faults have."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import viewed

from tests.unit.module_utils.site.test_refused import patched, site

BIO = {"name": "bio", "partitions": ["ai-train"]}


def with_projects(*listed: dict[str, Any], **single: dict[str, Any]) -> dict[str, Any]:
    further = {f"drawbridge_project_{name}": project for name, project in single.items()}
    whole = {"drawbridge_projects": {"projects": [*listed]}} if listed else {}
    return {**site("lab"), **whole, **further}


def keys(variables: dict[str, Any]) -> list[str]:
    with pytest.raises(IntentError) as refused:
        load(variables)
    return [fault.key for fault in refused.value.faults]


def test_a_variable_of_its_own_is_one_more_project() -> None:
    intent = load(with_projects(BIO, med={"name": "med"}, astro={"name": "astro"}))
    assert intent.projects and [it.name for it in intent.projects.projects] == ["bio", "astro", "med"]


def test_single_variables_need_no_common_one() -> None:
    intent = load(with_projects(med={"name": "med"}))
    assert intent.projects and [it.name for it in intent.projects.projects] == ["med"]


def test_views_read_single_variables_too() -> None:
    variables = {**with_projects(BIO, med={"name": "med"}), "inventory_hostname": "ctl"}
    found = viewed("gate_controller", variables, {})
    assert {"bio", "med"} <= found["namespaces"].keys()
    alone = viewed("gate_controller", {**site("lab"), "inventory_hostname": "ctl"}, {})
    assert not {"bio", "med"} & alone["namespaces"].keys()


def test_views_of_a_site_with_single_variables_alone() -> None:
    variables = {**with_projects(med={"name": "med"}), "inventory_hostname": "ctl"}
    assert viewed("project_states", variables, {"today": "2027-01-01"})["open"] == ["med"]
    accounts = viewed("slurm_controller", variables, {"cgroups": True})["accounting"]["accounts"]
    assert "med" in [it["name"] for it in accounts]


def test_faults_of_shape_and_of_rules_name_the_variable() -> None:
    assert keys(with_projects(BIO, med={"name": "Med"})) == ["drawbridge_project_med.name"]
    assert keys(with_projects(BIO, med={"nam": "med"}))[0] == "drawbridge_project_med.nam"
    assert keys(with_projects(BIO, med={"name": "med", "partitions": ["x"]})) == ["drawbridge_project_med.partitions"]
    assert keys(with_projects(BIO, med=BIO | {"partitions": ["x"]}))[-1] == "drawbridge_project_med.partitions"


def test_a_fault_of_an_account_that_a_project_makes_is_the_projects() -> None:
    archived = {"name": "old", "state": "archived"}
    wrong = {"name": "med", "parent": "nowhere"}
    assert keys(with_projects(archived, wrong)) == ["drawbridge_projects.projects[1].parent"]
    assert keys(with_projects(archived, BIO, med=wrong)) == ["drawbridge_project_med.parent"]
    both = patched({"drawbridge_slurm.accounts.1.parent": "gone"}, with_projects(med=wrong))
    assert keys(both) == ["drawbridge_slurm.accounts[1].parent", "drawbridge_project_med.parent"]


def test_a_fault_of_an_intent_with_a_broken_part_keeps_its_key() -> None:
    broken = with_projects(BIO, med={"name": "Med"}) | {"drawbridge_fabric": []}
    assert set(keys(broken)) == {"drawbridge_fabric", "drawbridge_project_med.name"}


def test_a_fault_of_a_budgets_qos_is_the_projects() -> None:
    paid = {"name": "med", "budget": {"gpu_hours": 5}}
    usage = {"drawbridge_slurm.qos.0.max_time": "4:00", "drawbridge_slurm.qos.1.per_job": {"gpus": 99}}
    assert all(key.startswith("drawbridge_slurm.qos[") for key in keys(patched(usage, with_projects(med=paid))))
    copied = patched({"drawbridge_slurm.qos.0.per_job": {"gpus": 9}, "drawbridge_slurm.qos.0.per_user": {"gpus": 8}})
    found = keys({**copied, "drawbridge_project_med": paid})
    assert found == ["drawbridge_slurm.qos[0].per_job.gpus", "drawbridge_project_med.per_job.gpus"]
