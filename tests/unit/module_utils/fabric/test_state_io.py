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

from tests.unit.emulated_switch import QUICK, Emulated, Leaf, profile
from tests.unit.module_utils.fabric.each_system import (
    CUMULUS,
    CUMULUS9,
    EOS,
    JUNOS,
    NEXUS,
    OS10,
    SONIC,
    System,
)

BUSY = {"rx_pause": 1200, "tx_pause": 3, "marked": 40, "dropped": 2, "storms": 1, "depth": 4096, "peak": 8192}
COUNTED = {"rx_pause": 1200, "tx_pause": 3, "ecn_marked_packets": 40, "dropped_packets": 2}
STORMS = {**COUNTED, "watchdog_storms": 1}
DEPTH, PEAK = {"queue_bytes": 4096}, {"queue_peak_bytes": 8192}


def make_busy(switch: Emulated) -> None:
    port, strict = switch.profile.ports[0], "7" if switch.system == "nxos" else "6"
    with switch.state() as state:
        state["counters"] = {port: {"3": BUSY, strict: {"dropped": 9}}}
        state["neighbors"] = {port: ["gpu01", "rail0"]}


def read(switch: Emulated, system: Dialect | None = None) -> dict[str, Any]:
    return read_state(switch.login, system or switch.dialect, switch.profile, QUICK.answer_s)


@pytest.mark.parametrize(
    ("system", "lossless"),
    [
        (EOS, STORMS),
        (CUMULUS, {**STORMS, **DEPTH, **PEAK}),
        (CUMULUS9, {**STORMS, **DEPTH, **PEAK}),
        (SONIC, {**STORMS, **PEAK}),
        (NEXUS, {**STORMS, **DEPTH}),
        (JUNOS, COUNTED),
        (OS10, COUNTED),
    ],
    ids=str,
)
def test_a_switch_is_read_over_one_session(switch: Any, system: System, lossless: dict[str, int]) -> None:
    """Congestion notifications have priority 6, also where their queue has another number."""
    assert not switch.converge().error
    make_busy(switch)
    switch.journal()
    found = read(switch)
    calls = switch.journal()
    assert sum(call.get("event") == "connect" for call in calls) == 1
    assert not any(call["writes"] for call in calls)
    assert found["unknown"] == [], system
    busy, idle = (found["ports"][port] for port in switch.profile.ports)
    assert busy["neighbour"] == ["gpu01", "rail0"]
    assert busy["priorities"]["3"] == lossless
    assert busy["priorities"]["6"]["dropped_packets"] == 9
    assert (idle["neighbour"], idle["priorities"]["3"]) == ([], dict.fromkeys(lossless, 0))


def test_a_part_that_is_refused_is_missing_and_all_others_are_read(leaf: Leaf) -> None:
    assert not leaf.converge().error
    leaf.fault("refuse", "counters queue detail")
    make_busy(leaf)
    found = read(leaf)
    [reason] = found["unknown"]
    assert reason.startswith("drops: leaf1 refused 'show interfaces counters queue detail | json': % Invalid input")
    assert "dropped_packets" not in found["ports"]["Ethernet1"]["priorities"]["3"]
    assert found["ports"]["Ethernet1"]["priorities"]["3"]["rx_pause"] == 1200


def test_an_answer_of_another_shape_costs_its_part_alone(leaf: Leaf) -> None:
    assert not leaf.converge().error
    reads = DIALECT.state_reads(profile())
    odd = replace(reads[0], line="show version | json")
    found = read(leaf, replace(DIALECT, state_reads=lambda *_: (odd, *reads[1:])))
    assert found["unknown"] == ["pause frames: leaf1 answers 'show version | json' in an unknown form"]


def test_a_counter_that_no_answer_has_is_named_with_the_command(leaf: Leaf) -> None:
    """Without `random-detect ecn count`, EOS prints a dash."""
    [reason] = read(leaf)["unknown"]
    lacks = "ecn_marked_packets of priority 3 of Ethernet1-2"
    command = "show qos interfaces ecn counters queue | json"
    assert reason == f"ECN marks: {lacks} is not in the answer of leaf1 to '{command}'"


def test_a_part_whose_command_came_later_is_missing(sonic24: Any) -> None:
    assert not sonic24.converge().error
    make_busy(sonic24)
    found = read(sonic24)
    assert found["unknown"] == ["ECN marks: SONiC 202405.1-04a1c8c22 has no 'show queue wredcounters'"]
    assert found["ports"]["Ethernet0"]["priorities"]["3"]["queue_peak_bytes"] == 8192


def test_a_second_neighbour_of_a_port_is_noted(nexus: Any) -> None:
    assert not nexus.converge().error
    with nexus.state() as state:
        state["neighbors"] = {"Ethernet1/1": ["gpu01", "rail0"], "Eth1/1": ["gpu01-bmc", "eth0"]}
    found = read(nexus)
    assert found["ports"]["Ethernet1/1"]["neighbour"] == ["gpu01", "rail0"]
    assert found["unknown"] == ["LLDP neighbours: Ethernet1/1 sees gpu01-bmc eth0 beside its first neighbour"]


def test_a_system_without_reads_is_refused_without_a_connection(leaf: Leaf) -> None:
    with pytest.raises(DeviceError, match="does not read the state of eos switches yet"):
        read(leaf, replace(DIALECT, state_reads=no_state))
    # an earlier test's session may end meanwhile
    assert [call for call in leaf.journal() if call.get("event") != "disconnect"] == []
