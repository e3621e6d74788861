# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.state import text

PRINTED = """NIC statistics:
     rx_packets: 7
     rx_prio3_pause: 5
     tx_prio3_pause_duration: 80
     rx_prio0_discards: 2
     rx_discards_phy: 3
     link_down_events_phy: 6
     tx_pause_storm_error_events: 1
     rx0_xdp_drop: 9
"""


def test_counters_of_a_port_say_why_packets_are_lost() -> None:
    assert text.counters(PRINTED) == {"rx_discards_phy": 3, "link_down_events_phy": 6, "tx_pause_storm_error_events": 1}


def test_each_priority_has_its_own() -> None:
    assert text.priorities(PRINTED) == {"3": {"rx_pause": 5, "tx_pause_duration": 80}, "0": {"rx_discards": 2}}
