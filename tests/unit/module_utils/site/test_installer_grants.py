# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rights of a run against the objects that roles write. A run's audit log is compared in molecule/default."""

from __future__ import annotations

from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.rights.rbac import Grant
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import objects
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.installer_grants import (
    SECRETS,
    grants,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part

from tests.attacks.manifests import rendered
from tests.conformance.tree import ROOT
from tests.unit.module_utils.site.test_refused import site

PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "RoleBinding": "rolebindings",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}


def of(kube: dict[str, Any], accounts: Any = None) -> dict[str, list[Grant]]:
    """The grants of the lab's site with other words in the intent."""
    intent = site("lab")
    slurm = intent["drawbridge_slurm"] | ({} if accounts is None else {"accounts": accounts})
    return grants(part("slurm", slurm), part("kube", {**intent["drawbridge_kube"], **kube}))


def names(found: list[Grant], resource: str, verb: str) -> set[str]:
    return {name for it in found if it.resource == resource and verb in it.verbs for name in it.names or ()}


def test_the_gates_objects_are_granted_by_name_and_no_others() -> None:
    slurm, kube = (part(name, site("lab")[f"drawbridge_{name}"]) for name in ("slurm", "kube"))
    written = [*rendered(), *objects(slurm, kube)]
    found = of({})["slurm_gate"]
    for kind, plural in PLURALS.items():
        wanted = {it["metadata"]["name"] for it in written if it["kind"] == kind}
        assert names(found, plural, "patch") == wanted, kind
    escalated = {it["metadata"]["name"] for it in written if it["kind"] == "ClusterRole"}
    assert names(found, "clusterroles", "escalate") == escalated
    bound = {it["roleRef"]["name"] for it in written if it["kind"].endswith("RoleBinding")}
    assert names(found, "clusterroles", "bind") == bound


def test_kubelets_bindings_are_the_roles() -> None:
    """They are written out in the role."""
    bindings = yaml.safe_load((ROOT / "roles/kube_node/vars/main.yml").read_text())["__kube_node_bindings"]
    found = of({})["kube_node"]
    assert names(found, "clusterrolebindings", "patch") == {it["metadata"]["name"] for it in bindings}
    assert names(found, "clusterroles", "bind") == {it["roleRef"]["name"] for it in bindings}


def test_what_the_intent_leaves_out_needs_no_rights() -> None:
    found = of({"join": "site", "gpu_operator": {"install": False}, "rdma": {"install": False}})
    assert found["kube_node"] == found["rdma_plugin"] == []
    assert {(it.resource, it.verbs) for it in found["gpu_operator"]} == {("nodes", ("list",)), ("pods", ("list",))}


def test_a_site_without_namespaces_of_jobs_may_not_change_all_namespaces() -> None:
    found = of({"gpu_operator": {"install": False}, "rdma": {"install": False}}, accounts=[])["slurm_gate"]
    given = [it for it in found if it.resource == "namespaces" and "patch" in it.verbs]
    assert given and all(it.names is not None for it in given)
    assert names(given, "namespaces", "patch") == {"drawbridge-gate", "drawbridge-nodes", "kube-system"}
    assert names(given, "namespaces", "create") == set()


def test_only_namespaces_that_nothing_else_makes_are_created() -> None:
    kube = {"gpu_operator": {}, "rdma": {}, "infra_namespaces": ["kube-system", "gpu-operator", "monitoring"]}
    found = of(kube)["slurm_gate"]
    assert names(found, "namespaces", "create") == {"vision", "speech", "chem", "monitoring"}


def test_no_run_reads_a_secret_outside_of_the_gpu_operators_namespace() -> None:
    everything = [grant for part in of({"gpu_operator": {}}).values() for grant in part]
    read = [it for it in everything if it.resource == "secrets" and {"get", "list", "watch"} & set(it.verbs)]
    assert {it.namespace for it in read} == {"gpu-operator"}


def test_only_the_bootstrap_of_kubernetes_and_the_gates_roles_are_bound() -> None:
    """Whoever may bind any role is an administrator."""
    everything = [grant for part in of({"gpu_operator": {}}).values() for grant in part]
    for grant in everything:
        if {"bind", "escalate", "impersonate"} & set(grant.verbs):
            assert grant.names, grant
    assert SECRETS not in names(everything, "validatingadmissionpolicybindings", "patch")
