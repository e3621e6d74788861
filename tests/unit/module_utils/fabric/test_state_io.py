# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of emulated switches, as it is read over SSH."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import Dialect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.state import no_state
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.state_io import read_state

from tests.unit.emulated_cumulus import Cumulus
from tests.unit.emulated_junos import Junos
from tests.unit.emulated_nexus import Nexus
from tests.unit.emulated_os10 import PowerSwitch
from tests.unit.emulated_sonic import Sonic
from tests.unit.emulated_switch import QUICK, Leaf, profile

BUSY = {"rx_pause": 1200, "tx_pause": 3, "marked": 40, "dropped": 2, "storms": 1, "depth": 4096, "peak": 8192}


def busy(state: dict[str, Any], port: str) -> None:
    state["counters"] = {port: {"3": BUSY}}
    state["neighbors"] = {port: ["gpu01", "rail0"]}


def once(calls: list[dict[str, Any]]) -> None:
    assert sum(call.get("event") == "connect" for call in calls) == 1
    assert not any(call["writes"] for call in calls)


def read(leaf: Leaf, system: Dialect = DIALECT) -> dict[str, Any]:
    return read_state(leaf.login, system, profile(), QUICK.answer_s)


def test_an_eos_switch(leaf: Leaf) -> None:
    leaf.converge()
    leaf.change(lambda state: busy(state, "Ethernet1"))
    leaf.journal()
    found = read(leaf)
    once(leaf.journal())
    assert found["unknown"] == []
    one = found["ports"]["Ethernet1"]
    assert one["neighbour"] == ["gpu01", "rail0"]
    assert one["priorities"]["3"] == {
        "rx_pause": 1200,
        "tx_pause": 3,
        "ecn_marked_packets": 40,
        "dropped_packets": 2,
        "watchdog_storms": 1,
    }
    assert found["ports"]["Ethernet2"]["priorities"]["3"]["ecn_marked_packets"] == 0


def test_a_part_that_is_refused_is_missing_and_all_others_are_read(leaf: Leaf) -> None:
    leaf.fault("refuse", "counters queue detail")
    leaf.change(lambda state: busy(state, "Ethernet1"))
    found = read(leaf)
    [reason] = found["unknown"]
    assert reason.startswith("drops: leaf1 refused 'show interfaces counters queue detail | json': % Invalid input")
    assert "dropped_packets" not in found["ports"]["Ethernet1"]["priorities"]["3"]
    assert found["ports"]["Ethernet1"]["priorities"]["3"]["rx_pause"] == 1200


def test_an_answer_of_another_shape_costs_its_part_alone(leaf: Leaf) -> None:
    reads = DIALECT.state_reads(profile())
    odd = replace(reads[0], line="show version | json")
    found = read(leaf, replace(DIALECT, state_reads=lambda _: (odd, *reads[1:])))
    assert found["unknown"] == ["pause frames: leaf1 answers 'show version | json' in an unknown form"]


def test_a_system_without_reads_is_refused_without_a_connection(leaf: Leaf) -> None:
    with pytest.raises(DeviceError, match="does not read the state of eos switches yet"):
        read(leaf, replace(DIALECT, state_reads=no_state))
    # an earlier test's session may end meanwhile
    assert [call for call in leaf.journal() if call.get("event") != "disconnect"] == []


def test_a_cumulus_switch(cumulus: Cumulus) -> None:
    with cumulus.state() as state:
        busy(state, "swp1")
    login = Leaf(cumulus.directory, cumulus.keys, cumulus.port).login
    found = read_state(login, cumulus.dialect, cumulus.profile, QUICK.answer_s)
    once(cumulus.journal())
    assert found["unknown"] == []
    assert found["ports"]["swp1"] == {
        "neighbour": ["gpu01", "rail0"],
        "priorities": {
            "3": {
                "rx_pause": 1200,
                "tx_pause": 3,
                "ecn_marked_packets": 40,
                "dropped_packets": 2,
                "watchdog_storms": 1,
                "queue_bytes": 4096,
                "queue_peak_bytes": 8192,
            },
            "6": {"dropped_packets": 0, "queue_bytes": 0, "queue_peak_bytes": 0},
        },
    }


def test_a_sonic_switch(sonic: Sonic) -> None:
    sonic.converge()
    with sonic.state() as state:
        busy(state, "Ethernet0")
    sonic.journal()
    login = Leaf(sonic.directory, sonic.keys, sonic.port).login
    found = read_state(login, sonic.dialect, sonic.profile, QUICK.answer_s)
    once(sonic.journal())
    assert found["unknown"] == []
    assert found["ports"]["Ethernet0"]["neighbour"] == ["gpu01", "rail0"]
    assert found["ports"]["Ethernet0"]["priorities"]["3"] == {
        "rx_pause": 1200,
        "tx_pause": 3,
        "ecn_marked_packets": 40,
        "dropped_packets": 2,
        "watchdog_storms": 1,
        "queue_peak_bytes": 8192,
    }


def test_a_nexus_switch(nexus: Nexus) -> None:
    with nexus.state() as state:
        busy(state, "Ethernet1/1")
        state["counters"]["Ethernet1/1"]["7"] = {"dropped": 9}
    login = Leaf(nexus.directory, nexus.keys, nexus.port).login
    found = read_state(login, nexus.dialect, nexus.profile, QUICK.answer_s)
    once(nexus.journal())
    assert found["unknown"] == []
    one = found["ports"]["Ethernet1/1"]
    assert one["neighbour"] == ["gpu01", "rail0"]
    assert one["priorities"]["3"] == {
        "rx_pause": 1200,
        "tx_pause": 3,
        "ecn_marked_packets": 40,
        "dropped_packets": 2,
        "watchdog_storms": 1,
        "queue_bytes": 4096,
    }
    assert one["priorities"]["6"]["dropped_packets"] == 9, "congestion notifications have queue 7"
    assert found["ports"]["Ethernet1/2"]["neighbour"] == []
    assert found["ports"]["Ethernet1/2"]["priorities"]["3"]["watchdog_storms"] == 0


def test_a_junos_switch(junos: Junos) -> None:
    assert not junos.converge().error
    with junos.state() as state:
        busy(state, "et-0/0/0")
        state["counters"]["et-0/0/0"]["6"] = {"dropped": 9}
    junos.journal()
    login = Leaf(junos.directory, junos.keys, junos.port).login
    found = read_state(login, junos.dialect, junos.profile, QUICK.answer_s)
    once(junos.journal())
    assert found["unknown"] == []
    one = found["ports"]["et-0/0/0"]
    assert one["neighbour"] == ["gpu01", "rail0"]
    lossless = {"rx_pause": 1200, "tx_pause": 3, "ecn_marked_packets": 40, "dropped_packets": 2}
    assert one["priorities"]["3"] == lossless, "its class has queue 4"
    assert one["priorities"]["6"]["dropped_packets"] == 9
    assert found["ports"]["et-0/0/1"]["priorities"]["3"] == dict.fromkeys(lossless, 0)


def test_a_dell_switch(os10: PowerSwitch) -> None:
    with os10.state() as state:
        busy(state, "ethernet1/1/1")
    login = Leaf(os10.directory, os10.keys, os10.port).login
    found = read_state(login, os10.dialect, os10.profile, QUICK.answer_s)
    once(os10.journal())
    assert found["unknown"] == []
    one = found["ports"]["ethernet1/1/1"]
    assert one["neighbour"] == ["gpu01", "rail0"]
    lossless = {"rx_pause": 1200, "tx_pause": 3, "ecn_marked_packets": 40, "dropped_packets": 2}
    assert one["priorities"]["3"] == lossless
    assert found["ports"]["ethernet1/1/2"]["priorities"]["3"] == dict.fromkeys(lossless, 0)
