# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.plan import (
    ObjectState,
    Record,
    Release,
    plan,
)

WANT = Release(Record("shop-v2", {"a": {"b": True}}))
RIGHT = ObjectState(True)
EDITED = ObjectState(True, {"spec.open": "false"}, {"spec.open": "true"})


def reasons(have: Release) -> list[str]:
    return [step.reason for step in plan(have, WANT)]


def test_matching_objects_stay() -> None:
    repaired = ObjectState(True, {"spec.open": "true"}, {"spec.open": "true"})
    assert plan(Release(WANT.record, {"Shop corner": RIGHT, "Shop other": repaired}), WANT) == []


MISSING = ObjectState(False)


def test_missing_objects_with_a_name_in_rbac_come_before_helm_and_edited_ones_after() -> None:
    titles = ("ClusterRole shop", "Role store/shop", "RoleBinding store/shop", "Shop corner")
    objects = {"ConfigMap store/a": MISSING, **dict.fromkeys(titles, MISSING), "ClusterRole other": EDITED}
    assert reasons(Release(None, objects)) == [
        *(f"make {title}" for title in titles),
        "install shop-v2",
        "make ConfigMap store/a",
        "change ClusterRole other: spec.open",
    ]


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (Record("shop-v1", {"a": {"b": True}}), "upgrade shop-v1 to shop-v2"),
        (Record("shop-v2", {"a": {"b": True}}, "failed"), "upgrade shop-v2: helm left it failed"),
    ],
)
def test_what_helm_remembers(record: Record | None, sentence: str) -> None:
    assert reasons(Release(record)) == [sentence]
