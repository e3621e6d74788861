# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.state import (
    counted,
    joined,
    neighbour,
    of_ports,
)


def test_parts_are_joined_and_the_same_counter_of_two_commands_is_their_sum() -> None:
    parts = [counted("swp1", 3, dropped_packets=2), counted("swp1", "3", dropped_packets=5, rx_pause=1)]
    assert joined(parts) == {"swp1": {"priorities": {"3": {"dropped_packets": 7, "rx_pause": 1}}}}


def test_every_port_of_the_profile_has_both_keys_and_no_other_port_is_shown() -> None:
    parts = [counted("swp1", 10, rx_pause=1), counted("swp1", 3, rx_pause=2), neighbour("swp9", "gpu09", "rail0")]
    found = of_ports(parts, ["swp1", "swp2"])
    assert list(found["swp1"]["priorities"]) == ["3", "10"]
    assert found["swp2"] == {"neighbour": [], "priorities": {}}
    assert list(found) == ["swp1", "swp2"]
