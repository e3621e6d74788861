# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.manifests import (
    Kinds,
    differences,
    documents,
    of_release,
    title,
)

from tests.unit.module_utils.kube.releases.test_io import kind

RESOURCES = [kind("ConfigMap", "configmaps", "Namespaced"), kind("Namespace", "namespaces", "Cluster")]
CORE = {"items": [{"metadata": {}, "versions": [{"version": "v1", "resources": RESOURCES}]}]}
TEXT = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
---
apiVersion: batch/v1
kind: Job
metadata: {name: hook, annotations: {helm.sh/hook: pre-upgrade}}
---
apiVersion: shop.example.org/v1
kind: Shop
metadata: {name: corner, namespace: never}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.shop.example.org, creationTimestamp: null}
spec:
  group: shop.example.org
  scope: Cluster
  names: {kind: Shop, plural: shops}
  versions: [{name: v1}]
"""


@pytest.fixture
def kinds() -> Kinds:
    found = Kinds({("apiextensions.k8s.io/v1", "CustomResourceDefinition"): ("customresourcedefinitions", False)})
    found.learn(CORE)
    return found


def test_definitions_come_first_hooks_not_at_all(kinds: Kinds) -> None:
    found = documents(TEXT, "store", kinds)
    assert [title(item) for item in found] == [
        "CustomResourceDefinition shops.shop.example.org",
        "ConfigMap store/settings",
        "Shop corner",
    ]
    assert "creationTimestamp" not in found[0]["metadata"]


def test_objects_have_the_marks_of_their_release_and_definitions_have_none(kinds: Kinds) -> None:
    definition, settings, _ = (of_release(it, "shop", "store") for it in documents(TEXT, "store", kinds))
    assert "annotations" not in definition["metadata"] and "labels" not in definition["metadata"]
    assert settings["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "Helm"}
    assert settings["metadata"]["annotations"] == {
        "meta.helm.sh/release-name": "shop",
        "meta.helm.sh/release-namespace": "store",
    }


def thing(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"kind": "Shop", "metadata": {"name": "corner", **metadata}, "spec": spec}


@pytest.mark.parametrize(
    ("live", "predicted", "found"),
    [
        ({"open": True}, {"open": True}, {}),
        ({"open": True}, {"open": False}, {"spec.open": ("true", "false")}),
        ({}, {"open": False}, {"spec.open": ("-", "false")}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"spec.a.c": ("2", "3")}),
        ({"a": [{"key": "x"}]}, {"a": [{"key": "y"}]}, {"spec.a[0].key": ("x", "y")}),
        ({"a": [{"name": "x", "v": 1}]}, {"a": [{"name": "x", "v": 2}]}, {"spec.a[x].v": ("1", "2")}),
        ({"a": [{"name": "x"}]}, {"a": []}, {"spec.a": ('[{"name": "x"}]', "[]")}),
        ({"a": ["x"]}, {"a": ["x", "y"]}, {"spec.a": ('["x"]', '["x", "y"]')}),
    ],
)
def test_what_an_apply_would_change(live: Any, predicted: Any, found: dict[str, tuple[str, str]]) -> None:
    assert differences(thing(live), thing(predicted)) == found


def test_what_the_api_server_writes_is_no_difference() -> None:
    live = thing({}, generation=3, resourceVersion="7", managedFields=[1], labels={"a": "b"})
    assert differences({**live, "status": {"phase": "Ready"}}, thing({}, generation=4, labels={"a": "b"})) == {}


def test_secrets_are_compared_but_not_shown() -> None:
    one = {"kind": "Secret", "metadata": {"name": "a"}, "data": {"key": "aHVudGVyMg=="}}
    found = differences(one, {**one, "data": {"key": "b3RoZXI="}})
    (was, will) = found["data.key"]
    assert was != will and "aHVudGVyMg" not in was and was.startswith("(secret")
