# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Against tables laid out as in sonic-utilities' own tests and command reference."""

from __future__ import annotations

import json

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.state import reads

from tests.unit.emulated_switch import profile

READS = {read.what: read.parse for read in reads(profile("sonic"))}
PFC = """\
  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       0       0   1,200       0       0       0       0

  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       0       0       3       0       0       0       0
"""
WATCHDOG = """\
        QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
-------------  -----------  -------------------------  ------------  ------------  -----------------  -----------------
  Ethernet0:3      stormed                        1/0       100/300       100/300              0/200              0/200
Ethernet112:4          N/A                    2,000/2       100/100       100/100              100/0              100/0
"""
LLDP = """\
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet0    spine1          Ethernet1          BR            to leaf 1
Ethernet4    gpu01           b8:59:9f:00:00:01                rail0
--------------------------------------------------
Total entries displayed:  2
"""


def test_pause_frames_in_both_directions() -> None:
    priorities = READS["pause frames"](PFC)["Ethernet0"]["priorities"]
    assert priorities["3"] == {"rx_pause": 1200, "tx_pause": 3}
    assert priorities["7"] == {"rx_pause": 0, "tx_pause": 0}


def test_the_first_line_may_have_lost_its_indentation() -> None:
    assert READS["pause frames"](PFC.lstrip()) == READS["pause frames"](PFC)


def test_queues_that_nothing_counts_are_absent_and_text_may_precede_the_json() -> None:
    queues = {"UC3": {"droppacket": "1,234"}, "UC4": {"droppacket": "N/A"}, "ALL20": {"droppacket": "0"}, "time": "now"}
    answer = f"Last cached time was now\n{json.dumps({'Ethernet0': queues})}\n"
    assert READS["drops"](answer) == {"Ethernet0": {"priorities": {"3": {"dropped_packets": 1234}}}}


def test_marks_and_depths() -> None:
    marks = {"Ethernet0": {"UC3": {"ecnmarkedpacket": "19", "wreddroppacket": "0"}}}
    assert READS["ECN marks"](json.dumps(marks))["Ethernet0"]["priorities"]["3"] == {"ecn_marked_packets": 19}
    depths = [{"Port": "Ethernet0", "UC3": "8192", "UC4": "N/A"}]
    assert READS["queue depths"](json.dumps(depths)) == {"Ethernet0": {"priorities": {"3": {"queue_peak_bytes": 8192}}}}


def test_storms_of_watched_queues() -> None:
    found = READS["watchdog storms"](WATCHDOG)
    assert found["Ethernet0"]["priorities"] == {"3": {"watchdog_storms": 1}}
    assert found["Ethernet112"]["priorities"] == {"4": {"watchdog_storms": 2000}}


def test_a_neighbour_that_names_its_port_by_an_address_is_named_by_its_description() -> None:
    found = READS["LLDP neighbours"](LLDP)
    assert found == {
        "Ethernet0": {"neighbour": ["spine1", "Ethernet1"]},
        "Ethernet4": {"neighbour": ["gpu01", "rail0"]},
    }
