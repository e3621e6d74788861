# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds for each level of the closed list."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.cel import LEVELS

from tests.attacks.manifests import rendered

POLICIES = ("drawbridge-job-pods", "drawbridge-workloads", "drawbridge-secrets")
TOLD = [
    line.get("message", "") + line.get("messageExpression", "")
    for body in rendered()
    if body["metadata"]["name"] in POLICIES and "validations" in body["spec"]
    for line in body["spec"]["validations"]
]
"""The words of refusals."""


def hold(name: str) -> None:
    """A field has one row, with a reason or with words of the line that judges it."""
    level = LEVELS[name]
    rows = [*level.judged, *level.free, *level.refused]
    assert len(rows) == len(set(rows))
    assert all(level.free.values()) and all(level.refused.values())
    assert set(level.below) <= set(level.known) and {child for _, child in level.below.values()} <= set(LEVELS)
    for field, line in level.judged.items():
        assert any(line in told for told in TOLD) if line else field in level.below, f"{name}.{field}: {line}"
