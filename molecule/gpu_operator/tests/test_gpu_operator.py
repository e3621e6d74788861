# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The release as helm and the API server have it, what becomes of edits, and pods that fit on no infra node."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.helm_release import release, source_of
from ansible_collections.drawbridge.drawbridge.plugins.action.infra_capacity import check
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import Ask, connect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import NVIDIA
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.gpu_operator_view import (
    nvidia_values,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.helm_io import Helm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.model import GpuOperator

from lab.hosts.paths import Paths
from tests import installer
from tests.administrator import administrator
from tests.unit.module_utils.site.test_installer_grants import of
from tests.waiting import until

Json = dict[str, Any]
STATE = Paths.of().kubeconfig.parent.parent
KUBECONFIG, HELM = str(Paths.of().installer_kubeconfig), str(STATE / "bin/helm")
ADMIN = str(Paths.of().kubeconfig)
POLICY = "/apis/nvidia.com/v1/clusterpolicies/cluster-policy"
DEPLOYMENT = "/apis/apps/v1/namespaces/gpu-operator/deployments/gpu-operator"
ACCOUNT = "/api/v1/namespaces/gpu-operator/serviceaccounts/gpu-operator"
NAMESPACE = "/api/v1/namespaces/gpu-operator"
DNS = f"{NAMESPACE}/pods/dns"
KIND = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterpolicies.nvidia.com"


FOLDER = STATE / "charts" / f"{NVIDIA.name}-{NVIDIA.version}"


def run(values: Json | None = None, check: bool = False, **other: Any) -> Json:
    """The module, as the role calls it."""
    found = {"namespace": "gpu-operator", "chart": "gpu-operator", "version": "v26.7.0", **other}
    args = {**found, "values": values or nvidia_values(GpuOperator())}
    source = source_of(str(FOLDER), args["chart"], args["version"])
    helm = Helm(HELM, KUBECONFIG, "gpu-operator", args["namespace"], source)
    return release(connect(KUBECONFIG), helm, args, check)


def helm(*argv: str, values: Json | None = None) -> subprocess.CompletedProcess[str]:
    """Helm itself, for an administrator."""
    where = ["--kubeconfig", ADMIN, "--namespace", "gpu-operator"]
    return subprocess.run(
        [HELM, *argv, *where], input=json.dumps(values or {}), capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def ask() -> Ask:
    return administrator()


@pytest.fixture
def at(ask: Ask) -> Callable[[str], Json]:
    def get(path: str) -> Json:
        status, found = ask("GET", path, None)
        assert status == 200, found
        return found

    return get


def test_helm_knows_the_release_and_its_values() -> None:
    (found,) = json.loads(helm("list", "--output", "json").stdout)
    assert (found["name"], found["chart"], found["status"]) == ("gpu-operator", "gpu-operator-v26.7.0", "deployed")
    assert json.loads(helm("get", "values", "gpu-operator", "--output", "json").stdout) == nvidia_values(GpuOperator())


def test_the_chart_has_read_the_values(at: Callable[[str], Json]) -> None:
    seen = at("/api/v1/namespaces/gpu-operator/configmaps/gpu-operator-values")["data"]
    assert seen["driver.enabled"] == seen["driver.upgradePolicy.autoUpgrade"] == "false"
    assert json.loads(seen["dcgmExporter.hpcJobMapping"])["enabled"] is True
    assert "drawbridge.io/slurm" in seen["node-feature-discovery.worker.tolerations"]
    assert seen["driver.version"] == '"(not set)"'


SPEC = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
EDITED = {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC, "edited": {"type": "string"}}}}
EDITS = [
    (
        POLICY,
        {"spec": {"driver": {"enabled": True}, "daemonsets": {"tolerations": []}}},
        "change ClusterPolicy cluster-policy: spec.daemonsets.tolerations, spec.driver.enabled",
    ),
    (DEPLOYMENT, {"spec": {"replicas": 0}}, "change Deployment gpu-operator/gpu-operator: spec.replicas"),
    (
        KIND,
        {"spec": {"versions": [{"name": "v1", "served": True, "storage": True, "schema": EDITED}]}},
        "change CustomResourceDefinition clusterpolicies.nvidia.com: "
        "spec.versions[v1].schema.openAPIV3Schema.properties.edited",
    ),
]


def test_hand_edits_of_owned_fields_are_drift(ask: Ask) -> None:
    for path, edit, _ in EDITS:
        status, answer = ask("PATCH", path, edit)
        assert status == 200, answer
    predicted = run(check=True)
    done = run()
    assert predicted["steps"] == done["steps"] and sorted(done["steps"]) == sorted(step for _, _, step in EDITS)
    assert predicted["diff"] == done["diff"] and not done["failed"]
    assert run() | {"diff": {}} == {"changed": False, "failed": False, "steps": [], "pending": [], "diff": {}}


def test_a_deleted_object_comes_back(ask: Ask, at: Callable[[str], Json]) -> None:
    assert ask("DELETE", ACCOUNT, None)[0] == 200
    assert run(check=True)["steps"] == run()["steps"] == ["make ServiceAccount gpu-operator/gpu-operator"]
    assert at(ACCOUNT) and run()["changed"] is False


def test_fields_and_objects_of_others_stay(ask: Ask, at: Callable[[str], Json]) -> None:
    theirs = {"metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}, "spec": {"theirs": {"deep": 1}}}
    assert ask("PATCH", POLICY, theirs)[0] == 200
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}}
    assert ask("POST", f"{NAMESPACE}/configmaps", settings)[0] == 201
    assert run()["changed"] is False
    changed = run(nvidia_values(GpuOperator(mig_strategy="none")))
    assert changed["steps"][0] == "upgrade gpu-operator-v26.7.0: values mig.strategy"
    policy = at(POLICY)
    assert policy["spec"]["theirs"] == {"deep": 1} and policy["metadata"]["labels"]["team"] == "a"
    assert policy["spec"]["mig"] == {"strategy": "none"} and at(f"{NAMESPACE}/configmaps/theirs")
    assert not run()["failed"]


def test_helm_alone_leaves_an_edited_custom_resource(ask: Ask, at: Callable[[str], Json]) -> None:
    """Why there is a module of our own: helm 3 compares its own record, not the objects in the cluster."""
    run()
    assert ask("PATCH", POLICY, {"spec": {"driver": {"enabled": True}}})[0] == 200
    argv = ["upgrade", "--install", "gpu-operator", str(FOLDER), "--values", "-"]
    done = helm(*argv, values=nvidia_values(GpuOperator()))
    assert done.returncode == 0, done.stderr
    assert at(POLICY)["spec"]["driver"]["enabled"] is True
    assert run()["steps"] == ["change ClusterPolicy cluster-policy: spec.driver.enabled"]
    assert at(POLICY)["spec"]["driver"]["enabled"] is False


NFD = "gpu-operator-node-feature-discovery"
OPTIONAL = [
    f"ClusterRole {NFD}",
    f"ClusterRole {NFD}-gc",
    f"ClusterRoleBinding {NFD}",
    f"ClusterRoleBinding {NFD}-gc",
    f"Role gpu-operator/{NFD}-worker",
    f"RoleBinding gpu-operator/{NFD}-worker",
]


def test_rights_of_a_part_leave_with_it_and_come_back_as_helms_own(at: Callable[[str], Json]) -> None:
    """They come before helm, which could create them by a POST only, and it takes them as its own."""
    without = nvidia_values(GpuOperator(values={"nfd": {"enabled": False}}))
    assert run(without)["steps"][0] == "upgrade gpu-operator-v26.7.0: values nfd.enabled"
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    assert NFD not in {it["metadata"]["name"] for it in at(roles)["items"]}
    predicted = run(check=True)
    done = run()
    assert predicted["steps"] == done["steps"] and not done["failed"]
    assert done["steps"][: len(OPTIONAL)] == [f"make {title}" for title in OPTIONAL]
    assert done["steps"][len(OPTIONAL)] == "upgrade gpu-operator-v26.7.0: values nfd.enabled"
    assert at(f"{roles}/{NFD}")["metadata"]["annotations"]["meta.helm.sh/release-name"] == "gpu-operator"
    assert run()["changed"] is False


def test_another_release_at_the_path_is_refused() -> None:
    with pytest.raises(DeviceError, match=r"is gpu-operator v26.7.0, but gpu-operator v26.3.3 is pinned"):
        run(version="v26.3.3")


def test_real_helm_takes_our_values_by_the_vendors_own_tree() -> None:
    done = helm("template", "x", str(FOLDER), "--values", "-", values=nvidia_values(GpuOperator()))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "values", [{"rdma": {"enabled": True}}, {"driver": {"enable": False}}, {"dcgmExporter": {"hpcJobMaping": {}}}]
)
def test_real_helm_refuses_what_the_vendors_chart_does_not_read(values: Json) -> None:
    done = helm("template", "x", str(FOLDER), "--values", "-", values=values)
    assert "not allowed" in done.stderr and done.returncode != 0


def node(name: str, cpu: str) -> Json:
    ready = {"type": "Ready", "status": "True"}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "20"}, "conditions": [ready]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {**status, "capacity": {}}}


@pytest.fixture
def nodes(ask: Ask) -> Iterator[None]:
    """Two nodes as objects, gone at the end: other scenarios have real ones by these names on this control plane."""
    for name, cpu in (("infra1", "1"), ("gpu01", "64")):
        assert ask("POST", "/api/v1/nodes", node(name, cpu))[0] == 201
        # put there by an admission plugin, until a controller has looked
        assert ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": []}})[0] == 200
    yield
    # it would take CPU of a real gpu01 later
    assert ask("DELETE", f"{DNS}?gracePeriodSeconds=0", None)[0] in (200, 202, 404)
    until(lambda: ask("GET", DNS, None)[0] == 404, 60, "the pod is gone")
    for name in ("infra1", "gpu01"):
        assert ask("DELETE", f"/api/v1/nodes/{name}", None)[0] == 200


@pytest.mark.usefixtures("nodes")
def test_pods_that_fit_on_no_infra_node_are_named(ask: Ask) -> None:
    needs = {"requests": {"cpu": "1500m", "memory": "1Gi"}}
    spec = {"nodeName": "gpu01", "containers": [{"name": "a", "image": "a", "resources": needs}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "dns"}, "spec": spec}
    assert ask("POST", f"{NAMESPACE}/pods", pod)[0] == 201
    found = check(ask, {"infra": ["infra1", "infra2"], "gated": ["gpu01"], "job_namespaces": []})
    assert found["failed"]
    assert found["faults"][0] == (
        "drawbridge_kube.infra names infra2, but the cluster has no such node; join it, or remove infra2 from the list"
    )
    assert found["faults"][1].startswith(
        "pod gpu-operator/dns fits on no infra node when gpu01 is closed: infra1 has too little cpu"
    )


def test_a_run_has_the_rights_that_it_uses_and_no_others() -> None:
    """The last test: the audit log knows all runs before. The chart's own rights are more than the installer holds."""
    found = installer.events()
    assert {it["impersonatedUser"]["username"] for it in found} == {"drawbridge"}
    assert installer.refused(found) == []
    assert installer.unused(of({"gpu_operator": {}})["gpu_operator"], found) == []
