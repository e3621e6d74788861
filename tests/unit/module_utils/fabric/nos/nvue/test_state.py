# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Against JSON with the keys and values of NVIDIA's page on RoCE, and of NAPALM's driver for LLDP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.state import reads

from tests.unit.emulated_switch import profile

READS = {read.what: read for read in reads(profile("nvue", 2), "5.14.0")}
COUNTERS = {
    "rx-stats": {
        "rx-pfc-stats": {"pause-duration": 0, "pause-packets": 7},
        "rx-roce-stats": {"no-buffer-discard": 2, "pg-usage": "0 Bytes"},
    },
    "tx-stats": {
        "tx-cnp-stats": {"tc-max-usage": "0 Bytes", "tc-usage": "0 Bytes", "unicast-no-buffer-discard": 0},
        "tx-ecn-stats": {"ecn-marked-packets": 693777677344},
        "tx-pfc-stats": {"pause-packets": 1},
        "tx-roce-stats": {"tc-max-usage": "16.02 MB", "tc-usage": "7.29 MB", "unicast-no-buffer-discard": 3},
    },
}


def parsed(what: str, answer: Any) -> Any:
    return READS[what].parse(json.dumps(answer))


@pytest.mark.parametrize("port", [COUNTERS, {"qos": {"roce": {"counters": COUNTERS}}}])
def test_counters_of_the_lossless_class_and_of_congestion_notifications(port: Any) -> None:
    found = parsed("RoCE counters", {"swp16": port})["swp16"]["priorities"]
    assert found == {
        "3": {
            "rx_pause": 7,
            "tx_pause": 1,
            "ecn_marked_packets": 693777677344,
            "dropped_packets": 5,
            "queue_bytes": 7644119,
            "queue_peak_bytes": 16798188,
        },
        "6": {"dropped_packets": 0, "queue_bytes": 0, "queue_peak_bytes": 0},
    }


def test_the_watchdog_is_read_port_by_port() -> None:
    assert READS["watchdog storms of swp2"].line == "nv show interface swp2 qos pfc-watchdog -o json"
    queues = {str(n): {"status": "OK", "deadlock-count": n} for n in range(8)}
    found = parsed("watchdog storms of swp2", {"state": "enabled", "status": queues})
    assert found == {"swp2": {"priorities": {"3": {"watchdog_storms": 3}}}}
