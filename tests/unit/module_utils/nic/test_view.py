# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.view import described, nic_qos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, FABRIC = part("nodes", SITE["drawbridge_nodes"]), part("fabric", SITE["drawbridge_fabric"])


def test_every_rail_gets_both_classes_and_one_lossless_priority() -> None:
    assert nic_qos(NODES, FABRIC, "gpu03") == {
        "interfaces": [f"rail{number}" for number in range(8)],
        "lossless_priorities": [3],
        "dscp_priorities": [{"dscp": 26, "priority": 3}, {"dscp": 48, "priority": 6}],
    }


def test_a_node_that_no_range_has_is_refused() -> None:
    with pytest.raises(IntentError, match=r'drawbridge_nodes\.ranges is "gpu99", but no range has this node'):
        described(NODES, "gpu99")
