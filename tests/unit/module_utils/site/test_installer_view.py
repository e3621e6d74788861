# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.installer_view import kube_installer

from lab.kubernetes import installer
from tests.attacks.manifests import rendered
from tests.unit.module_utils.lab import GPFS, NODES, SLURM, kube
from tests.unit.module_utils.site.test_refused import site

Json = dict[str, Any]


def given(**change: Any) -> Json:
    return kube_installer(NODES, SLURM, {"gpfs": GPFS}, kube(**change), None)


EVERYTHING = given(gpu_operator={}, rdma={"namespace": "rdma"})["rights"]
ROLES = [it for it in EVERYTHING if it["kind"] in ("Role", "ClusterRole")]
OF_RUNS = [it for it in EVERYTHING if it["kind"].endswith("RoleBinding") and "installer" in it["metadata"]["name"]]


def test_namespaces_come_before_their_objects() -> None:
    known: set[str] = set()
    for item in EVERYTHING:
        if item["kind"] == "Namespace":
            known.add(item["metadata"]["name"])
        assert {item["metadata"].get("namespace")} - {None} <= known, item
    own = {f"drawbridge-{it}" for it in ("installer", "gate", "nodes")}
    assert known == {"kube-system", "gpu-operator", "rdma", "vision", "speech", "chem", *own}


def test_each_namespace_is_there_once() -> None:
    """kubectl owns its labels: the same one again, without them, would take them away."""
    names = [it["metadata"]["name"] for it in EVERYTHING if it["kind"] == "Namespace"]
    assert len(names) == len(set(names))


def test_pods_of_infrastructure_are_exempt_before_policies_are_there() -> None:
    spaces = [it["metadata"] for it in EVERYTHING if it["kind"] == "Namespace"]
    labels = {it["name"]: it.get("labels", {}) for it in spaces}
    infra = {name for name, its in labels.items() if its.get("drawbridge.io/infra") == "true"}
    assert infra == {"drawbridge-gate", "drawbridge-nodes", "kube-system", "gpu-operator"}
    assert labels["gpu-operator"]["pod-security.kubernetes.io/enforce"] == "privileged"


def where(role: Json, item: Json) -> tuple[str, str, str]:
    """Kind, namespace and name of a role, or of the role that a binding binds."""
    return role["kind"], item["metadata"].get("namespace", ""), role["name"]


def test_each_role_is_bound_to_the_group_and_only_the_right_to_act_to_others() -> None:
    for item in OF_RUNS:
        kinds = {subject["kind"]: subject["name"] for subject in item["subjects"]}
        assert kinds["Group"] == "drawbridge:installer"
        assert ("ServiceAccount" in kinds) == (item["roleRef"]["name"] == "drawbridge-act-as-installer")
    bound = [where(it["roleRef"], it) for it in OF_RUNS]
    assert sorted(bound) == sorted(where({**it, **it["metadata"]}, it) for it in ROLES)


def test_who_runs_ansible_may_act_as_the_installer_and_nothing_else() -> None:
    (act,) = (it for it in ROLES if it["metadata"]["name"] == "drawbridge-act-as-installer")
    assert [(it["resources"], it["verbs"], it["resourceNames"]) for it in act["rules"]] == [
        (["users"], ["impersonate"], ["drawbridge"]),
        (["groups"], ["impersonate"], ["drawbridge:platform", "drawbridge:installer"]),
    ]
    others = [rule for role in ROLES if role is not act for rule in role["rules"]]
    assert not [rule for rule in others if "impersonate" in rule["verbs"]]


def test_a_site_with_amds_gpus_alone_gives_a_run_no_right_of_nvidias_chart() -> None:
    intent = site("example-mi300x")
    nodes, slurm, own = (part(it, intent[f"drawbridge_{it}"]) for it in ("nodes", "slurm", "kube"))
    rules = [rule for it in kube_installer(nodes, slurm, {}, own, None)["rights"] for rule in it.get("rules", ())]
    assert not [rule for rule in rules if {"bind", "escalate"} & {*rule["verbs"]}]
    named = {name for rule in rules if rule["resources"] == ["daemonsets"] for name in rule.get("resourceNames", ())}
    assert named == {"amd-gpu-device-plugin-daemonset", "drawbridge-rdma-plugin"}
    assert [rule["verbs"] for rule in rules if rule["resources"] == ["nodes"]] == [["list", "get", "patch"]]


def test_no_rule_has_a_wildcard() -> None:
    for rule in (rule for role in ROLES for rule in role["rules"]):
        assert "*" not in [*rule["verbs"], *rule["apiGroups"], *rule["resources"], *rule.get("resourceNames", [])]


def test_only_hosts_that_the_run_joins_may_request_certificates() -> None:
    joining = {"drawbridge-node-bootstrap", "drawbridge-node-renewal"}
    for join, expected in (("drawbridge", joining), ("site", set())):
        assert joining & {it["metadata"]["name"] for it in given(join=join)["rights"]} == expected


def test_policies_come_with_the_list_of_open_nodes() -> None:
    """One of them has it as its parameter, and none refuses before it is there."""
    (nodes,) = given()["policies"]
    texts = rendered(projects=False)
    by_name = {it["metadata"]["name"]: it["spec"] for it in texts if "paramRef" in it.get("spec", {})}
    (ref,) = (it["paramRef"] for it in by_name.values() if "name" in it["paramRef"])
    assert ref["name"] == nodes["metadata"]["name"] and ref["parameterNotFoundAction"] == "Deny"
    assert nodes["data"] == {"infra1": ""}


def test_what_projects_are_allowed_comes_with_the_policies_that_need_it() -> None:
    """They narrow the rights of a run, so neither comes later than the other."""
    projects = part("projects", {"filesystem": "/gpfs/fs1", "projects": []})
    found = kube_installer(NODES, SLURM, {"gpfs": GPFS}, kube(), None, projects)
    [allowed] = [it for it in found["rights"] if it["kind"] == "ConfigMap"]
    refs = [
        it["spec"]["paramRef"]
        for it in installer.rendered(installer.RIGHTS, found["names"])
        if "paramRef" in it.get("spec", {})
    ]
    wanted = {**allowed["metadata"], "parameterNotFoundAction": "Deny"}
    assert refs == [wanted, wanted]
    assert not [it for it in EVERYTHING if it["kind"] == "ConfigMap"]


def test_objects_of_all_sites_and_of_this_one_never_meet() -> None:
    """Of two objects of the same name, the last one applied would win."""
    said = [*EVERYTHING, *rendered(), *given()["policies"]]
    keys = [yaml.safe_dump([it["kind"], it["metadata"].get("namespace"), it["metadata"]["name"]]) for it in said]
    assert len(keys) == len(set(keys))
