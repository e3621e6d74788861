# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.capabilities import (
    CAPABILITIES,
)


def test_ports_of_packets_and_bundles_carry_traffic_of_nodes() -> None:
    listed = ["et-0/0/0", "et-0/0/1:3", "xe-0/0/2", "ae0", "em0", "et-0/0/0.0", "irb"]
    assert CAPABILITIES.strange_ports(listed) == ["em0", "et-0/0/0.0", "irb"]
