# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.capabilities import (
    CAPABILITIES,
)


def test_the_management_port_and_names_of_no_node_port_carry_no_lossless_class() -> None:
    others = ["mgmt1/1/1", "vlan700", "port-channel10", "Ethernet1", "ethernet1/1"]
    assert CAPABILITIES.strange_ports([*others, "ethernet1/1/1", "ethernet2/1/32"]) == others
