# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.plan import (
    DriverState,
    Item,
    credentials_fault,
    fixed_fault,
    labels,
    plan,
    plan_removal,
    sidecars_fault,
    slot,
)

CLASS: dict[str, Any] = {
    "provisioner": "x",
    "parameters": {"gid": "1"},
    "reclaimPolicy": "Retain",
    "volumeBindingMode": "Immediate",
}


@pytest.mark.parametrize(
    ("active", "in_use", "same", "found"),
    [
        ("drawbridge-cluster-a", False, False, "drawbridge-cluster-a"),
        ("drawbridge-cluster-a", True, True, "drawbridge-cluster-a"),
        ("drawbridge-cluster-a", True, False, "drawbridge-cluster-b"),
        ("drawbridge-cluster-b", True, False, "drawbridge-cluster-a"),
    ],
)
def test_a_new_content_goes_into_the_slot_that_is_not_in_use(active: str, in_use: bool, same: bool, found: str) -> None:
    assert slot(active, in_use, same) == found


def test_a_field_that_kubernetes_fixes_is_named_with_both_values() -> None:
    assert fixed_fault(CLASS, {**CLASS, "allowVolumeExpansion": True}) == ""
    assert (
        fixed_fault(CLASS, {**CLASS, "parameters": {"gid": "2"}}) == "parameters is gid: 1, and the intent has gid: 2"
    )
    found = fixed_fault({**CLASS, "reclaimPolicy": "Delete"}, CLASS)
    assert found == "reclaimPolicy is Delete, and the intent has Retain"


def test_steps_go_from_nodes_to_objects_and_deletions_are_last() -> None:
    old, kept = ("ConfigMap", "old"), ("StorageClass", "kept")
    have = DriverState({("Secret", "a"): Item(), kept: Item(True)}, frozenset([old]), {"n1": frozenset()})
    want = DriverState(nodes=labels({"n1": False}))
    steps = plan(have, want)
    assert [it.reason for it in steps] == ["let the driver run on n1", "make Secret a", "delete ConfigMap old"]
    after = have
    for step in steps:
        after = step.becomes(after)
    assert plan(after, want) == [] and after.lines() == ["Node n1: drawbridge.io/storage-driver"]


def test_the_operator_goes_last_because_a_run_looks_for_it() -> None:
    others = [
        ("Deployment", "o"),
        ("CSIScaleOperator", "r"),
        ("ClusterRole", "o"),
        ("StorageClass", "s"),
        ("Secret", "a"),
    ]
    steps = plan_removal(DriverState(others=frozenset(others), nodes={"n1": frozenset(["x"])}), DriverState())
    assert [it.payload[1] for it in steps] == [*(others[index] for index in (3, 1, 4, 2)), "n1", others[0]]


def test_volumes_keep_the_driver_but_nothing_keeps_nothing() -> None:
    have = DriverState(others=frozenset([("Secret", "a")]), volumes=("pvc-1", "pvc-2"))
    assert "2 volumes need the driver (pvc-1, pvc-2)" in plan_removal(have, DriverState())[0].refused
    assert plan_removal(DriverState(volumes=("pvc-1",)), DriverState()) == []


@pytest.mark.parametrize(
    ("mounted", "saying"),
    [(["i1", "i2"], ""), (["i1", "gpu01"], "i1 mounts them. Mount them on i2"), ([], "none mounts")],
)
def test_sidecars_need_two_infra_nodes(mounted: list[str], saying: str) -> None:
    found = sidecars_fault(mounted, ["i1", "i2"])
    assert saying in found and bool(found) == bool(saying)


def test_each_cluster_needs_its_own_user() -> None:
    resource = {
        "spec": {"clusters": [{"id": "1", "secrets": "drawbridge-cluster"}, {"id": "2", "secrets": "drawbridge-owner"}]}
    }
    own = {"username": "u", "password": "p"}
    assert credentials_fault(resource, {"cluster": own, "owner": own}, "v") == ""
    assert credentials_fault(resource, {"cluster": own}, "v").startswith("v.owner has no username and no password")
