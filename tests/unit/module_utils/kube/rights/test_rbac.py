# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.rights.rbac import (
    Grant,
    Right,
    allows,
    rights_of,
    rules,
    same,
    sentences,
)

NODES = Grant("", "nodes", ("get", "patch"))
NAMED = Grant("rbac.authorization.k8s.io", "clusterroles", ("get", "escalate"), ("a", "b"))


def test_grants_of_the_same_objects_are_one_rule() -> None:
    assert rules([NODES, NAMED, Grant("", "nodes", ("list", "get"))]) == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch", "list"]},
        {
            "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["clusterroles"],
            "verbs": ["get", "escalate"],
            "resourceNames": ["a", "b"],
        },
    ]


def test_a_grant_of_no_object_is_no_rule() -> None:
    """RBAC takes an empty list of names for all objects."""
    nothing = Grant("", "namespaces", ("patch",), ())
    assert rules([nothing]) == [] and list(nothing.rights()) == []


def test_rules_and_grants_have_the_same_rights() -> None:
    given = [NODES, NAMED]
    assert list(rights_of(rules(given), "")) == [right for grant in given for right in grant.rights()]


def rule(**other: Any) -> dict[str, Any]:
    return {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], **other}


@pytest.mark.parametrize(
    ("given", "right", "allowed"),
    [
        (rule(), Right("", "", "pods", "", "get"), True),
        (rule(), Right("", "", "pods", "a", "get"), True),
        (rule(), Right("", "", "pods", "", "list"), False),
        (rule(), Right("", "apps", "pods", "", "get"), False),
        (rule(), Right("", "", "pods/eviction", "", "get"), False),
        (rule(resourceNames=["a"]), Right("", "", "pods", "a", "get"), True),
        (rule(resourceNames=["a"]), Right("", "", "pods", "b", "get"), False),
        (rule(resourceNames=["a"]), Right("", "", "pods", "", "get"), False),
        (rule(verbs=["*"], apiGroups=["*"], resources=["*"]), Right("", "x", "y", "z", "patch"), True),
        (rule(resources=["*/eviction"]), Right("", "", "pods/eviction", "", "get"), True),
        (rule(resources=["*/eviction"]), Right("", "", "pods", "", "get"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, Right("", "", "pods", "", "get"), False),
    ],
)
def test_a_rule_allows(given: dict[str, Any], right: Right, allowed: bool) -> None:
    assert allows([given], right) is allowed


def test_rights_in_words() -> None:
    secrets = Grant("", "secrets", ("create", "delete"), namespace="kube-system")
    found = sentences(right for grant in (NODES, NAMED, secrets) for right in grant.rights())
    assert found == [
        "get and patch nodes",
        "get and escalate clusterroles.rbac.authorization.k8s.io a and b",
        "create and delete secrets in kube-system",
    ]


POLICY = {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": {"failurePolicy": "Fail"}}


@pytest.mark.parametrize(
    ("live", "alike"),
    [
        ({"metadata": {"name": "p", "uid": "1"}, "spec": POLICY["spec"], "status": {"x": 1}}, True),
        ({"metadata": {"name": "p"}, "spec": {"failurePolicy": "Ignore"}}, False),
        # an added condition may switch it off
        ({"metadata": {"name": "p"}, "spec": {**POLICY["spec"], "matchConditions": []}}, False),
        ({"metadata": {"name": "p"}}, False),
    ],
)
def test_an_object_says_what_it_should_and_nothing_else(live: Any, alike: bool) -> None:
    assert same(live, POLICY) is alike


def test_a_namespace_may_have_other_labels() -> None:
    wanted = {"kind": "Namespace", "metadata": {"name": "n", "labels": {"a": "1"}, "annotations": {"b": "2"}}}
    live = {"metadata": {"labels": {"a": "1", "c": "3"}, "annotations": {"b": "2"}}, "spec": {"finalizers": []}}
    assert same(live, wanted)
    assert not same({"metadata": {"labels": {"a": "1"}}}, wanted)
    assert not same({"metadata": {"labels": {"a": "2"}, "annotations": {"b": "2"}}}, wanted)
