# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.rights.rbac import includes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.installer_view import (
    frames,
    manifest,
)

from tests.attacks.manifests import rendered
from tests.unit.module_utils.lab import SLURM, kube

Json = dict[str, Any]


EVERYTHING = manifest(SLURM, kube(gpu_operator={}, rdma={"namespace": "rdma"}))
ROLES = [it for it in EVERYTHING if it["kind"] in ("Role", "ClusterRole")]


def test_namespaces_come_before_their_objects() -> None:
    known = {"kube-system"}
    for item in EVERYTHING:
        if item["kind"] == "Namespace":
            known.add(item["metadata"]["name"])
        assert item["metadata"].get("namespace", "kube-system") in known, item
    own = {f"drawbridge-{it}" for it in ("installer", "gate", "nodes")}
    assert known == {"kube-system", "gpu-operator", "rdma", *own}


def where(role: Json, item: Json) -> tuple[str, str, str]:
    """Kind, namespace and name of a role, or of the role that a binding binds."""
    return role["kind"], item["metadata"].get("namespace", ""), role["name"]


def test_each_role_is_bound_to_the_group_and_only_the_right_to_act_to_others() -> None:
    for item in EVERYTHING:
        if item["kind"].endswith("RoleBinding"):
            kinds = {subject["kind"]: subject["name"] for subject in item["subjects"]}
            assert kinds["Group"] == "drawbridge:installer"
            assert ("ServiceAccount" in kinds) == (item["roleRef"]["name"] == "drawbridge-act-as-installer")
    bound = [where(it["roleRef"], it) for it in EVERYTHING if "roleRef" in it]
    assert sorted(bound) == sorted(where({**it, **it["metadata"]}, it) for it in ROLES)


def test_who_runs_ansible_may_act_as_the_installer_and_nothing_else() -> None:
    (act,) = (it for it in ROLES if it["metadata"]["name"] == "drawbridge-act-as-installer")
    assert [(it["resources"], it["verbs"], it["resourceNames"]) for it in act["rules"]] == [
        (["users"], ["impersonate"], ["drawbridge"]),
        (["groups"], ["impersonate"], ["drawbridge:platform", "drawbridge:installer"]),
    ]
    others = [rule for role in ROLES if role is not act for rule in role["rules"]]
    assert not [rule for rule in others if "impersonate" in rule["verbs"]]


def test_no_rule_has_a_wildcard() -> None:
    for rule in (rule for role in ROLES for rule in role["rules"]):
        assert "*" not in [*rule["verbs"], *rule["apiGroups"], *rule["resources"], *rule.get("resourceNames", [])]


WRITTEN = {(it["kind"], it["metadata"]["name"]): it["spec"] for it in rendered() if "spec" in it}


@pytest.mark.parametrize("frame", frames(), ids=lambda it: f"{it['kind']}-{it['metadata']['name']}")
def test_the_run_writes_policies_with_the_frames_own_values(frame: Json) -> None:
    """Otherwise the administrator's next apply would meet a conflict. What a run can't write is complete."""
    key = frame["kind"], frame["metadata"]["name"]
    spec = {name: value for name, value in frame["spec"].items() if name != "auditAnnotations"}
    if frame["kind"] == "ValidatingAdmissionPolicy":
        assert includes(WRITTEN[key], spec) and "auditAnnotations" not in WRITTEN[key]
    else:
        assert key not in WRITTEN and spec["policyName"] == frame["metadata"]["name"]
        assert ("ValidatingAdmissionPolicy", spec["policyName"]) in WRITTEN


def test_all_policies_with_parameters_are_frames() -> None:
    with_parameters = {name for (kind, name), spec in WRITTEN.items() if "paramKind" in spec}
    assert with_parameters == {it["metadata"]["name"] for it in frames()}
