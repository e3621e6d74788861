# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A shared value is used by a host only if it would be the same there."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils import shared as module
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.direct_filters import MISSING
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.shared import Shared, shared

INTENT = {"port": 6443}
RAW = {"view": "{{ intent.port }}", "intent": INTENT, "number": 4, "ansible_search_path": ["/roles/one"]}


@pytest.mark.parametrize(
    ("other", "fits"),
    [
        ({}, True),
        ({"unrelated": "x"}, True),
        ({"ansible_search_path": ["/roles/one"]}, True),
        ({"ansible_search_path": ["/roles/two"]}, False),
        ({"intent": dict(INTENT)}, False),
        ({"number": 5}, False),
        ({"number": True}, False),
        ({"port": 1}, False),
    ],
)
def test_all_that_a_value_is_made_of_must_be_the_same(other: dict[str, Any], fits: bool) -> None:
    assert Shared(6443, {**RAW, "port": MISSING}).fits({**RAW, **other}) is fits


def test_one_and_true_are_not_the_same() -> None:
    assert not Shared("x", {"number": 1}).fits({"number": True})


def test_each_role_has_values_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHARED", {("/roles/one", "view"): Shared(6443, RAW)})
    found = shared("view", {**RAW, "role_path": "/roles/one"})
    assert found and found.value == 6443
    assert shared("view", {**RAW, "role_path": "/roles/two"}) is None
