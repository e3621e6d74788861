# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Against JSON with the keys of Cisco's reference of show commands, and one LLDP row as collectors meet it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.state import reads

from tests.unit.emulated_switch import profile

READS = {read.what: read.parse for read in reads(profile("nxos"))}


def queuing(*rows: dict[str, Any]) -> str:
    """A table as NX-OS prints it: one row is no list."""
    return json.dumps({"TABLE_queuing_interface": {"ROW_queuing_interface": rows[0] if len(rows) == 1 else rows}})


def test_counters_of_one_port_and_of_several() -> None:
    one = {"if_name_str": "Ethernet1/1", "pfc_rx_qos_3": "7", "tx_uc_ecn_pkt_qos_3": 40, "tx_mc_pkt_qos_3": "5"}
    other = {"if_name_str": "Ethernet1/2", "pfc_rx_qos_3": "-", "tx_uc_drop_pkt_qos_7": "2"}
    assert READS["queue counters"](queuing(one)) == {
        "Ethernet1/1": {"priorities": {"3": {"rx_pause": 7, "ecn_marked_packets": 40}}}
    }
    assert READS["queue counters"](queuing(one, other))["Ethernet1/2"] == {
        "priorities": {"6": {"dropped_packets": 2}}
    }, "queue 7 has congestion notifications"


def test_depths_leave_out_queues_that_are_no_qos_groups() -> None:
    entry = {"eq-stat-type": "Q Depth", "eq-stat-units": "Byts", "eq-uc-stat-value": "4096"}
    packets = {"eq-stat-type": "Tx", "eq-stat-units": "Pkts", "eq-uc-stat-value": "1"}
    stats = {"TABLE_qosgrp_egress_stats_entry": {"ROW_qosgrp_egress_stats_entry": [packets, entry]}}
    queues = [{"eq-qosgrp": "3", **stats}, {"eq-qosgrp": "CONTROL QOS GROUP", **stats}]
    row = {"if_name_str": "Ethernet1/1", "TABLE_qosgrp_egress_stats": {"ROW_qosgrp_egress_stats": queues}}
    assert READS["queue depths"](queuing(row)) == {"Ethernet1/1": {"priorities": {"3": {"queue_bytes": 4096}}}}


def test_ports_have_long_or_short_names() -> None:
    row = {"l_port_id": "Eth1/1", "sys_name": "gpu01", "port_id": "rail0"}
    answer = json.dumps({"TABLE_nbor_detail": {"ROW_nbor_detail": row}})
    assert READS["LLDP neighbours"](answer) == {"Ethernet1/1": {"neighbour": ["gpu01", "rail0"]}}
    assert READS["LLDP neighbours"]("{}") == {}


@pytest.mark.parametrize("what", READS)
def test_text_is_another_shape(what: str) -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        READS[what]("% Structured output unsupported")
