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
from tests.unit.module_utils.fabric.each_system import CUMULUS, EOS, JUNOS, NEXUS, OS10, SONIC, System

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
    leaf.fault("refuse", "counters queue detail")
    make_busy(leaf)
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
