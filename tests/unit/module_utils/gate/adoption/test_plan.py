# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import refusals
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.plan import (
    ClusterUse,
    NodeUse,
    faults,
    foreign,
    plan,
)

from tests.unit.module_utils.steps import after

WANT = ClusterUse({name: NodeUse(True) for name in ("gpu01", "gpu02", "gpu03")})
BUSY = ClusterUse({"gpu01": NodeUse(False, ("shop/web", "shop/db")), "gpu02": NodeUse(True)})


def pod(namespace: str, phase: str = "Running", account: str = "default") -> dict[str, Any]:
    metadata = {"namespace": namespace, "name": "it"}
    return {"metadata": metadata, "spec": {"serviceAccountName": account}, "status": {"phase": phase}}


def test_pods_go_before_their_node_closes_and_gated_nodes_are_left_alone() -> None:
    steps = plan(BUSY, WANT)
    assert [step.payload for step in steps] == [
        ("evict", "gpu01", "shop/web"),
        ("evict", "gpu01", "shop/db"),
        ("close", "gpu01", ""),
    ]
    state = after(steps, BUSY)
    assert plan(state, WANT) == []
    assert state.lines() == ["gpu01 drawbridge.io/slurm", "gpu02 drawbridge.io/slurm"]
    assert BUSY.lines()[:3] == ["gpu01 open", "gpu01 pod shop/web", "gpu01 pod shop/db"]


def test_others_pods_are_refused_without_consent() -> None:
    steps = plan(BUSY, WANT)
    (sentence,) = refusals(steps, {"evict": False, "variables": {"evict": "site_evicts"}})
    assert sentence.startswith("gpu01 runs pod shop/web and 1 more, and")
    assert sentence.endswith("or set site_evicts: true")
    assert refusals(steps, {"evict": True}) == faults(BUSY) == []


def test_jobs_in_a_namespace_that_is_no_accounts_any_more_are_waited_for() -> None:
    (sentence,) = faults(ClusterUse({}, ("vision/slurm-7-u1-g1",)))
    assert sentence.startswith("vision/slurm-7-u1-g1 belongs to a job, but drawbridge_slurm.accounts no longer")


def test_a_cordoned_node_is_refused_until_it_is_gated() -> None:
    (sentence,) = faults(ClusterUse({"gpu01": NodeUse(False, (), cordoned=True)}))
    assert "kubectl uncordon gpu01" in sentence
    assert faults(ClusterUse({"gpu01": NodeUse(True, (), cordoned=True)})) == []


@pytest.mark.parametrize(
    ("found", "stays"),
    [
        (pod("shop"), False),
        (pod("shop", "Pending"), False),
        (pod("shop", "Succeeded"), True),
        (pod("shop", "Failed"), True),
        (pod("kube-system"), True),
        (pod("vision", account="slurm-4711-u2001-g3001"), True),
        (pod("vision", account="slurm-exporter"), False),
        (pod("shop", account="slurm-4711-u2001-g3001"), False),
    ],
)
def test_whose_pods_may_stay(found: dict[str, Any], stays: bool) -> None:
    assert foreign([found], ["kube-system"], ["vision"]) == (() if stays else (f"{found['metadata']['namespace']}/it",))
