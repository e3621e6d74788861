# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.capabilities import (
    CAPABILITIES,
)


def test_only_front_ports_carry_traffic_of_nodes() -> None:
    assert CAPABILITIES.strange_ports(["Ethernet1/1", "Ethernet1/2/1", "mgmt0", "Ethernet1"]) == ["mgmt0", "Ethernet1"]
