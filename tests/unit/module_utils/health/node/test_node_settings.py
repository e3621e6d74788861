# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.node_settings import (
    NodeSettings,
)

from tests.unit.module_utils.proof.checks.healthy import NODE


def test_a_node_reads_what_its_view_derives() -> None:
    assert NodeSettings.parse(json.dumps({"node": NODE.as_dict()})) == NodeSettings(NODE)
    whole = {"node": NODE.as_dict(), "nhc": "/usr/sbin/nhc", "limit_s": 20, "report_only": ["GPU clocks"]}
    assert NodeSettings.parse(json.dumps(whole)) == NodeSettings(NODE, "/usr/sbin/nhc", 20.0, ("GPU clocks",))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"node": 1}', '{"node": {}}', '{"node": {"rails": [{"x": 1}]}}'])
def test_another_text_has_no_settings(text: str) -> None:
    with pytest.raises(ValueError, match="it has no settings of the node's health: "):
        NodeSettings.parse(text)
