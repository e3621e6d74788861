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


def test_what_is_right_stays() -> None:
    mended = ObjectState(True, {"spec.open": "true"}, {"spec.open": "true"})
    assert plan(Release(WANT.record, {"Shop corner": RIGHT, "Shop other": mended}), WANT) == []


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (None, "install shop-v2"),
        (Record("shop-v1", {"a": {"b": True}}), "upgrade shop-v1 to shop-v2"),
        (Record("shop-v2", {"a": {"b": False, "c": 1}}), "upgrade shop-v2: values a.b, a.c"),
        (Record("shop-v2", {"a": {"b": True}}, "failed"), "upgrade shop-v2: helm left it failed"),
    ],
)
def test_what_helm_remembers(record: Record | None, sentence: str) -> None:
    assert reasons(Release(record)) == [sentence]


def test_namespace_and_definitions_first_then_the_release_then_the_rest() -> None:
    things = {
        "Namespace store": ObjectState(False),
        "CustomResourceDefinition shops": EDITED,
        "Shop corner": ObjectState(False),
        "Shop other": EDITED,
    }
    assert reasons(Release(None, things)) == [
        "make Namespace store",
        "change CustomResourceDefinition shops: spec.open",
        "install shop-v2",
        "make Shop corner",
        "change Shop other: spec.open",
    ]


def test_steps_predict_the_end() -> None:
    state = Release(None, {"Namespace store": ObjectState(False), "Shop other": EDITED})
    assert "Shop other spec.open: false" in state.lines()
    for step in plan(state, WANT):
        state = step.becomes(state)
    assert plan(state, WANT) == []
    assert state.lines() == ["release shop-v2 deployed", "  a.b: true", "Shop other spec.open: true"]
