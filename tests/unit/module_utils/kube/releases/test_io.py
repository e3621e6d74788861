# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A chart with a kind of its own against a small API server, with helm's ways: it leaves edited custom resources."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases import io as helm_release
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.helm_io import Helm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.io import HelmRelease
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.plan import (
    Record,
    Release,
    plan,
)

VALUES = {"driver": {"enabled": False}}
WANT = Release(Record("gpu-operator-v26.7.0", VALUES))
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "policies.x.org"},
    "spec": {
        "group": "x.org",
        "scope": "Cluster",
        "names": {"kind": "Policy", "plural": "policies"},
        "versions": [{"name": "v1", "served": True}, {"name": "v1alpha1", "served": False}],
    },
}
POLICY = {"apiVersion": "x.org/v1", "kind": "Policy", "metadata": {"name": "p"}, "spec": {"driver": {"enabled": False}}}
SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}, "data": {"a": "1"}}
CHART = [POLICY, SETTINGS, DEFINITION]


def kind(name: str, plural: str, scope: str) -> dict[str, Any]:
    return {"resource": plural, "responseKind": {"kind": name}, "scope": scope}


DISCOVERY = {
    "/api": [("", "v1", [kind("Namespace", "namespaces", "Cluster"), kind("ConfigMap", "configmaps", "Namespaced")])],
    "/apis": [
        ("apiextensions.k8s.io", "v1", [kind("CustomResourceDefinition", "customresourcedefinitions", "Cluster")])
    ],
}


def merged(live: Any, patch: Any) -> Any:
    if not (isinstance(live, dict) and isinstance(patch, dict)):
        return copy.deepcopy(patch)
    return {**live, **{key: merged(live.get(key), value) for key, value in patch.items()}}


class Server:
    """Objects by path. Applies merge; in a namespace or of a kind that is not there nothing is found."""

    def __init__(self) -> None:
        # the cluster's administrator makes it
        self.objects: dict[str, dict[str, Any]] = {"/api/v1/namespaces/gpus": {}}
        self.writes: list[str] = []
        self.looked: set[str] = set()
        self.refuses = ""
        self.descriptions = 0

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        path, _, query = path.partition("?")
        if path == "/version":
            return 200, {"gitVersion": "v1.36.3"}
        if path in DISCOVERY:
            groups = [
                {"metadata": {"name": name}, "versions": [{"version": version, "resources": resources}]}
                for name, version, resources in DISCOVERY[path]
            ]
            return 200, {"items": groups}
        if path == "/openapi/v3/apis/x.org/v1":
            return self.described()
        if self.lacks(path):
            return 404, {"message": "404 page not found"}
        if method == "GET":
            return self.found(path)
        assert method == "APPLY" and "fieldManager=drawbridge-release&force=true&fieldValidation=Strict" in query
        if self.refuses and self.refuses in json.dumps(body):
            return 400, {"message": f"unknown field {self.refuses}"}
        result = merged(self.objects.get(path, {}), body)
        if "dryRun=All" not in query:
            self.put(path, result)
        return 200, result

    def found(self, path: str) -> tuple[int, dict[str, Any]]:
        """A kind is not served at once: its conditions are null at first, as captured from a 1.36 server."""
        if path not in self.objects:
            return 404, {"message": "not found"}
        status = {"conditions": [{"type": "Established", "status": "True"}] if path in self.looked else None}
        self.looked.add(path)
        return 200, {**self.objects[path], "status": status}

    def described(self) -> tuple[int, dict[str, Any]]:
        """The document of a group's first kind comes late; that of its next kind lacks the kind for some time."""
        self.descriptions += 1
        if self.descriptions == 1:
            return 404, {"message": "404 page not found"}
        known = {"group": "x.org", "kind": "Other" if self.descriptions == 2 else "Policy", "version": "v1"}
        return 200, {"components": {"schemas": {"x": {"x-kubernetes-group-version-kind": [known]}, "y": {}}}}

    def lacks(self, path: str) -> bool:
        if path.startswith("/apis/x.org") and not any("policies.x.org" in known for known in self.objects):
            return True
        return "/namespaces/gpus/" in path and "/api/v1/namespaces/gpus" not in self.objects

    def put(self, path: str, item: dict[str, Any]) -> None:
        self.objects[path] = copy.deepcopy(item)
        self.writes.append(path.rsplit("/", 1)[-1])


MARKS = {"meta.helm.sh/release-name": "gpu-operator", "meta.helm.sh/release-namespace": "gpus"}


def marked(item: dict[str, Any]) -> dict[str, Any]:
    """An object of the release, as helm 3.22 makes it."""
    return merged(item, {"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": MARKS}})


class Charts(Helm):
    release = "gpu-operator"

    def __init__(self, server: Server) -> None:
        self.server, self.remembered, self.upgrades = server, None, 0
        self.chart = CHART

    def verify(self) -> None:
        pass

    def rendered(self, values: Mapping[str, Any], kubernetes: str, api_versions: Sequence[str], exists: bool) -> str:
        assert kubernetes == "v1.36.3" and "v1/ConfigMap" in api_versions and exists == (self.remembered is not None)
        return yaml.safe_dump_all(self.chart)

    def record(self) -> Record | None:
        return self.remembered

    def upgrade(self, values: Mapping[str, Any]) -> None:
        """Like helm: creates missing objects, repairs objects of known kinds, leaves edited custom resources."""
        assert not self.server.lacks("/apis/x.org"), "helm refuses a chart with a kind that is not there"
        self.upgrades += 1
        policy = self.server.objects.get("/apis/x.org/v1/policies/p")
        assert policy, "who may create it by name only can't send helm's POST"
        assert policy["metadata"]["annotations"] == MARKS, "it can't be imported: invalid ownership metadata"
        self.remembered = Record("gpu-operator-v26.7.0", values)
        there = merged(marked(SETTINGS), {"metadata": {"namespace": "gpus"}, "by": "helm"})
        self.server.put("/api/v1/namespaces/gpus/configmaps/s", there)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr(helm_release, "POLL_S", 0.0)
    return Server()


@pytest.fixture
def charts(server: Server) -> Charts:
    return Charts(server)


def run(server: Server, charts: Charts, check: bool = False) -> Any:
    return converge(HelmRelease(server, charts, "gpus", VALUES), plan, WANT, check=check)


STEPS = [
    "make CustomResourceDefinition policies.x.org",
    "make Policy p",
    "install gpu-operator-v26.7.0",
    "make ConfigMap gpus/s",
]


def test_from_nothing(server: Server, charts: Charts) -> None:
    predicted = run(server, charts, check=True)
    assert server.writes == [] and predicted.steps == STEPS
    done = run(server, charts)
    assert (done.steps, done.error, done.left) == (STEPS, "", [])
    assert done.diff == predicted.diff
    # helm has made the rest: it is not written again
    assert server.writes == ["policies.x.org", "p", "s"] and charts.upgrades == 1
    assert run(server, charts).steps == []


@pytest.mark.parametrize(
    ("path", "edit", "step"),
    [
        ("/apis/x.org/v1/policies/p", {"spec": {"driver": {"enabled": True}}}, "change Policy p: spec.driver.enabled"),
        ("/api/v1/namespaces/gpus/configmaps/s", {"data": {"a": "2"}}, "change ConfigMap gpus/s: data.a"),
        (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/policies.x.org",
            {"spec": {"scope": "Namespaced"}},
            "change CustomResourceDefinition policies.x.org: spec.scope",
        ),
    ],
)
def test_a_hand_edit_is_seen_and_repaired(server: Server, charts: Charts, path: str, edit: Any, step: str) -> None:
    """What others own stays."""
    run(server, charts)
    policy, theirs = "/apis/x.org/v1/policies/p", {"spec": {"theirs": 1}, "metadata": {"labels": {"team": "a"}}}
    server.objects[policy] = merged(server.objects[policy], theirs)
    assert run(server, charts).steps == []
    server.objects[path] = merged(server.objects[path], edit)
    predicted = run(server, charts, check=True)
    done = run(server, charts)
    assert predicted.steps == done.steps == [step] and done.error == ""
    assert predicted.diff == done.diff and done.diff["before"] != done.diff["after"]
    assert charts.upgrades == 1, "helm has nothing to do with it"
    assert run(server, charts).steps == [] and server.objects[policy]["spec"]["theirs"] == 1


def test_other_values_are_an_upgrade_and_what_helm_leaves_is_written(server: Server, charts: Charts) -> None:
    run(server, charts)
    charts.remembered = Record("gpu-operator-v26.7.0", {"driver": {"enabled": True}})
    server.objects["/apis/x.org/v1/policies/p"]["spec"]["driver"]["enabled"] = True
    done = run(server, charts)
    assert done.steps == ["upgrade gpu-operator-v26.7.0: values driver.enabled", "change Policy p: spec.driver.enabled"]
    assert done.error == "" and server.objects["/apis/x.org/v1/policies/p"]["spec"]["driver"]["enabled"] is False


def test_a_field_that_the_kind_does_not_have_is_refused_before_anything_is_written(
    server: Server, charts: Charts
) -> None:
    run(server, charts)
    writes = list(server.writes)
    server.refuses = "drivr"
    charts.chart = [{**POLICY, "spec": {"drivr": {}}}, SETTINGS, DEFINITION]
    with pytest.raises(DeviceError, match="the API server refuses Policy p: unknown field drivr"):
        run(server, charts)
    assert server.writes == writes


def test_a_kind_that_neither_chart_nor_cluster_has_is_refused(server: Server, charts: Charts) -> None:
    charts.chart = [POLICY]
    with pytest.raises(DeviceError, match=r"the cluster has no kind x.org/v1 Policy, which the chart creates"):
        run(server, charts)


def test_a_chart_waits_until_its_kinds_are_described(server: Server, charts: Charts) -> None:
    run(server, charts)
    assert server.descriptions == 3


def test_a_definition_that_is_never_served_is_reported(
    server: Server, charts: Charts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helm_release, "SERVED_S", -1.0)
    done = run(server, charts)
    assert "was written, but the API server does not serve it" in done.error
    assert done.left == STEPS[1:]
