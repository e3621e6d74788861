# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import port_counters

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
    assert port_counters.counters(PRINTED) == {
        "rx_discards_phy": 3,
        "link_down_events_phy": 6,
        "tx_pause_storm_error_events": 1,
    }


def test_each_priority_has_its_own() -> None:
    assert port_counters.priorities(PRINTED) == {"3": {"rx_pause": 5, "tx_pause_duration": 80}, "0": {"rx_discards": 2}}


HOME = Path(__file__).resolve().parents[3] / "transcripts/nic/ethtool"


@pytest.mark.parametrize(
    ("driver", "priority", "port"),
    [
        ("mlx5", {"rx_pause": 7, "tx_pause": 5, "rx_discards": 2}, {"rx_crc_errors_phy": 1, "link_down_events_phy": 3}),
        ("ice", {"rx_pause": 7, "tx_pause": 5}, {"rx_crc_errors.nic": 2, "rx_dropped.nic": 9, "link_xoff_rx.nic": 11}),
        (
            "bnxt",
            {"rx_pause": 7, "tx_pause": 5, "rx_pause_transition": 6, "rx_pause_duration": 80, "rx_packets": 9000},
            {"rx_fcs_err_frames": 2, "rx_stat_discard": 6, "link_down_events": 3},
        ),
    ],
)
def test_the_names_of_each_driver_give_the_same_counters(
    driver: str, priority: dict[str, int], port: dict[str, int]
) -> None:
    printed = (HOME / f"stats_{driver}.txt").read_text()
    found = port_counters.priorities(printed)
    assert priority.items() <= found["3"].items()
    assert port_counters.missing(found) == ""
    counters = port_counters.counters(printed)
    assert port.items() <= counters.items()
    assert not [name for name in counters if "prio" in name or "pri3" in name]


def test_intels_own_package_names_pauses_otherwise_again() -> None:
    printed = "NIC statistics:\n     port-rx-xoff_prio-3_events: 7\n     port-tx-xoff_prio-3_events: 5\n"
    assert port_counters.priorities(printed) == {"3": {"rx_pause": 7, "tx_pause": 5}}


def test_names_that_no_driver_known_here_has_leave_the_pauses_missing() -> None:
    assert (
        port_counters.missing(port_counters.priorities("NIC statistics:\n     frames_rx_pripause: 4\n"))
        == "rx_pause and tx_pause"
    )
