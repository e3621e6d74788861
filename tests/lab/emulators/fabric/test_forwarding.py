# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How a switch treats packets by its lines in force: hosts read it, and their traffic moves its counters."""

from __future__ import annotations

import pytest

from lab.emulators.common import Device
from lab.emulators.fabric import data_model
from tests.lab.emulators.fabric.conftest import Room

EOS = ["enable", "terminal length 0", "configure", "interface Ethernet1"]
PAUSED = ["qos trust dscp", "priority-flow-control priority 3 no-drop"]
IDEAL = {"up": True, "mtu": 9216, "trust": True, "lossless": [3], "marks": [0, 3]}


@pytest.mark.parametrize(
    ("system", "lines", "port", "seen"),
    [
        ("eos", EOS, "Ethernet1", {"up": True, "mtu": 9214, "trust": False, "lossless": [], "marks": []}),
        ("eos", [*EOS, "no switchport", "shutdown"], "Ethernet1", {"up": False, "mtu": 1500, "trust": True}),
        ("eos", [*EOS, *PAUSED, "priority-flow-control on"], "Ethernet1", {"trust": True, "lossless": [3]}),
        ("eos", [*EOS, *PAUSED], "Ethernet1", {"trust": True, "lossless": []}),
        ("nvue", [], "swp1", {"trust": False, "lossless": [], "marks": []}),
        ("nvue", ["nv set qos roce", "nv config apply -y"], "swp1", IDEAL),
        ("nvue", ["nv set qos roce", "nv set interface swp1 link mtu 1500"], "swp1", {"mtu": 9216, "lossless": []}),
        ("nvue", ["nv set interface swp1 link state down", "nv config apply -y"], "swp1", {"up": False}),
        ("sonic", [], "Ethernet0", {"up": True, "mtu": 9100, "trust": False, "lossless": [], "marks": []}),
        ("sonic", ["sudo config qos reload"], "Ethernet4", {"trust": True, "lossless": [3, 4], "marks": [3, 4]}),
        ("junos", [], "et-0/0/0", None),
    ],
)
def test_hosts_see_the_lines_in_force(tmp_path, system, lines, port, seen):
    room, shared = Room(tmp_path, system, "", 4), Device(tmp_path / "shown")
    room.switch.show_to(shared)
    room.type("", *lines)
    with shared.state() as state:
        shown = state.get("ports", {}).get(port)
    assert shown == seen if seen is None else {**shown, **seen} == shown


def test_counters_of_traffic_add_to_those_of_a_test(tmp_path):
    room, shared = Room(tmp_path, "eos", "", 4), Device(tmp_path / "shown")
    room.switch.show_to(shared)
    for device, number in ((room.device, 1), (shared, 40)):
        with device.state() as state:
            state["counters"] = {"Ethernet1": {"3": {"marked": number}}}
    room.type("show version")
    assert data_model.count(room.state, "Ethernet1", 3, "marked") == 41
