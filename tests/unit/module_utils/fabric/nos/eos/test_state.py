# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Against JSON with the keys that Arista's ANTA and Meta's health checks read from EOS."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.state import reads

from tests.unit.emulated_switch import profile

READS = {read.what: read.parse for read in reads(profile(ports=2))}


def parsed(what: str, answer: Any) -> Any:
    return READS[what](json.dumps(answer))


def test_a_queue_that_does_not_count_its_marks_has_no_counter() -> None:
    answer = {"intfQueueCounters": {"Ethernet10/20/1": {"queueCounters": {"0": "-", "1": "2"}}}}
    assert parsed("ECN marks", answer) == {"Ethernet10/20/1": {"priorities": {"1": {"ecn_marked_packets": 2}}}}


def test_drops_of_all_precedences_are_added_and_classes_in_a_range_left_out() -> None:
    drops = {f"DP{n}": {"droppedPackets": n + 1, "droppedBytes": 0} for n in range(2)}
    classes = {"TC3": {"dropPrecedences": drops}, "TC0-2": {"dropPrecedences": drops}}
    port = {"ucastQueues": {"trafficClasses": classes}, "mcastQueues": {"trafficClasses": classes}}
    found = parsed("drops", {"egressQueueCounters": {"interfaces": {"Ethernet1": port}}})
    assert found == {"Ethernet1": {"priorities": {"3": {"dropped_packets": 3}}}}


def test_eos_leaves_out_ports_without_a_storm() -> None:
    stuck = {"Ethernet2": {"txQueues": {"3": {"stuckCount": 4, "recoveryCount": 4}}}}
    found = parsed("watchdog storms", {"interfaces": stuck})
    assert found == {
        "Ethernet1": {"priorities": {"3": {"watchdog_storms": 0}}},
        "Ethernet2": {"priorities": {"3": {"watchdog_storms": 4}}},
    }
