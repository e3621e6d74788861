# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.view import nic_qos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, FABRIC = part("nodes", SITE["drawbridge_nodes"]), part("fabric", SITE["drawbridge_fabric"])


def test_every_rail_gets_both_classes_and_one_lossless_priority() -> None:
    assert nic_qos(NODES, FABRIC.roce, FABRIC.cnp, "gpu03") == {
        "interfaces": [f"rail{number}" for number in range(8)],
        "lossless_priorities": [3],
        "dscp_priorities": [{"dscp": 26, "priority": 3}, {"dscp": 48, "priority": 6}],
    }
