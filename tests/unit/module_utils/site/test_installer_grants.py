# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the rights of a run leave out. A run's audit log is compared with them in molecule/default."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import (
    AMD,
    NVIDIA,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.rights.rbac import Grant
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import RBAC
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.installer_grants import (
    ADMISSION,
    grants,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.model import Driver, Right

from tests.unit.module_utils.site.test_refused import site


def of(kube: dict[str, Any], accounts: Any = None) -> dict[str, list[Grant]]:
    """The grants of the lab's site with other words in the intent."""
    intent = site("lab")
    slurm = intent["drawbridge_slurm"] | ({} if accounts is None else {"accounts": accounts})
    return grants(part("slurm", slurm), part("kube", {**intent["drawbridge_kube"], **kube}))


def names(found: list[Grant], resource: str, verb: str) -> set[str]:
    return {name for it in found if it.resource == resource and verb in it.verbs for name in it.names or ()}


@pytest.mark.parametrize("kube", [{}, {"rdma": {}}, {"join": "site"}], ids=str)
def test_a_run_can_give_no_right_and_change_no_policy(kube: dict[str, Any]) -> None:
    """Whoever may write a role that he has, may do everything."""
    for grant in (it for found in of(kube).values() for it in found):
        assert not {"bind", "escalate", "impersonate"} & set(grant.verbs), grant
        if grant.group in (RBAC, ADMISSION):
            assert grant.verbs == ("list",), grant


def test_a_run_of_a_site_with_projects_binds_the_gates_own_roles_and_no_others() -> None:
    intent = site("lab")
    slurm, kube = (part(it, intent[f"drawbridge_{it}"]) for it in ("slurm", "kube"))
    projects = part("projects", {"projects": []})
    found = [
        it for it in grants(slurm, kube, None, projects)["slurm_gate"] if it not in grants(slurm, kube)["slurm_gate"]
    ]
    given = [it for it in found if {"bind", "escalate", "impersonate"} & set(it.verbs)]
    assert [(it.verbs, it.names) for it in given] == [
        (("bind",), ("drawbridge-opener-namespace", "drawbridge-reconciler-namespace", "drawbridge-node-namespace"))
    ]
    written = [it for it in found if it.group in (RBAC, ADMISSION) and it not in given]
    assert [(it.resource, it.names) for it in written] == [
        ("rolebindings", ("drawbridge-opener", "drawbridge-reconciler", "drawbridge-node"))
    ]
    assert not names(found, "configmaps", "patch"), "what projects are allowed is an administrator's to write"


def test_only_the_gpu_operators_chart_brings_roles() -> None:
    """The threat model says so."""
    everything = [grant for part in of({"gpu_operator": {}}).values() for grant in part]
    given = [it for it in everything if {"bind", "escalate"} & set(it.verbs)]
    assert {name.split("-node-")[0] for it in given for name in it.names or ("",)} == {"gpu-operator"}


def test_amds_chart_takes_one_daemonset_and_no_roles() -> None:
    """Beside helm's own record, and what the check of the infra nodes lists."""
    intent = site("lab")
    parts = part("slurm", intent["drawbridge_slurm"]), part("kube", {**intent["drawbridge_kube"], "gpu_operator": {}})
    found = grants(*parts, charts=[AMD])["gpu_operator"]
    assert {(it.resource, it.verbs, it.names) for it in found} == {
        ("nodes", ("list",), None),
        ("pods", ("list",), None),
        ("daemonsets", ("get", "create", "patch"), ("amd-gpu-device-plugin-daemonset",)),
        ("secrets", ("get", "list", "create", "update", "delete"), None),
    }
    both, nvidias = (grants(*parts, charts=charts)["gpu_operator"] for charts in ([NVIDIA, AMD], [NVIDIA]))
    assert {*found, *nvidias} == {*both} and len(both) == len(nvidias) + 1
    assert {it.resource for it in grants(*parts, charts=[])["gpu_operator"]} == {"nodes", "pods"}


def test_what_the_intent_leaves_out_needs_no_rights() -> None:
    found = of({"join": "site", "gpu_operator": {"install": False}, "rdma": {"install": False}})
    assert found["kube_node"] == found["rdma_plugin"] == []
    assert {(it.resource, it.verbs) for it in found["gpu_operator"]} == {("nodes", ("list",)), ("pods", ("list",))}


def test_a_site_without_namespaces_of_jobs_may_change_none() -> None:
    found = of({"gpu_operator": {"install": False}, "rdma": {"install": False}}, accounts=[])["slurm_gate"]
    assert names(found, "namespaces", "patch") == set()
    assert [it for it in found if it.resource == "namespaces" and it.names is None and "patch" in it.verbs] == []


def test_a_run_requests_the_token_of_health_where_the_site_has_it() -> None:
    intent = site("lab")
    slurm, kube = (part(it, intent[f"drawbridge_{it}"]) for it in ("slurm", "kube"))
    found = [names(grants(slurm, kube, it)["slurm_gate"], "serviceaccounts/token", "create") for it in (None, Health())]
    assert found == [{"opener", "reconciler"}, {"opener", "reconciler", "health"}]


def test_a_run_creates_no_namespace() -> None:
    kube = {"gpu_operator": {}, "rdma": {}, "infra_namespaces": ["kube-system", "gpu-operator", "monitoring"]}
    found = [grant for part in of(kube).values() for grant in part if grant.resource == "namespaces"]
    assert not [it for it in found if "create" in it.verbs]
    assert names(found, "namespaces", "patch") == {"vision", "speech", "chem"}


def test_no_run_reads_a_secret_outside_of_the_gpu_operators_namespace() -> None:
    everything = [grant for part in of({"gpu_operator": {}}).values() for grant in part]
    read = [it for it in everything if it.resource == "secrets" and {"get", "list", "watch"} & set(it.verbs)]
    assert {it.namespace for it in read} == {"gpu-operator"}


def test_the_rights_of_a_storage_driver_come_with_it() -> None:
    intent = site("lab")
    slurm, kube = (part(it, intent[f"drawbridge_{it}"]) for it in ("slurm", "kube"))
    driver = Driver("driver", ("fast",), (Right("", "secrets", ("get",), ("own",), "driver"),))
    found = grants(slurm, kube, None, None, {"some": driver})
    assert found.pop("some_csi") == [Grant("", "secrets", ("get",), ("own",), "driver")]
    assert found == grants(slurm, kube)
