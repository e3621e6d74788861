# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a module reads to prove the class, against documented output."""

import json

import pytest

PROFILE = [
    "qos profile ROCE",
    "qos trust dscp",
    "priority-flow-control on",
    "priority-flow-control priority 3 no-drop",
    "uc-tx-queue 3",
    "no priority",
    "random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100",
    "interface Ethernet1",
    "service-profile ROCE",
    "uc-tx-queue 3",
    "random-detect ecn count",
]


@pytest.fixture
def shown(room):
    room.type("enable", "terminal length 0", "configure", *PROFILE, "end")
    return lambda command: room.type(command).rstrip("\n") + "\n"


def test_the_table_of_lossless_priorities(shown, transcript):
    table = shown("show priority-flow-control interfaces Ethernet1").split("\n\n")[1]
    assert table == transcript("fabric/eos/priority_flow_control.txt")
    assert "Global PFC : Enabled" in shown("show priority-flow-control")


def test_the_thresholds_that_are_programmed_have_no_json(shown, transcript):
    command = "show qos interfaces ethernet 1 ecn"
    assert shown(command) == transcript("fabric/eos/qos_ecn.txt")
    assert shown(f"{command} | json") == transcript("fabric/eos/unconverted.txt")


def test_neighbours(shown, room, transcript):
    room.switch.cable({"Ethernet2": ["om-spine2", "Ethernet1"], "Ethernet1": ["om-spine1", "Ethernet1"]})
    assert shown("show lldp neighbors").split("\n\n")[1] == transcript("fabric/eos/lldp_neighbors.txt")
    first = json.loads(shown("show lldp neighbors | json"))["lldpNeighbors"][0]
    assert first == {"port": "Ethernet1", "neighborDevice": "om-spine1", "neighborPort": "Ethernet1", "ttl": 120}


def test_a_port_says_what_it_is_and_one_that_is_not_there_is_warned_of(shown, room):
    port = json.loads(shown("show interfaces et1 | json"))["interfaces"]["Ethernet1"]
    assert (port["forwardingModel"], port["mtu"], port["interfaceStatus"]) == ("bridged", 9214, "connected")
    warning = "! Interface does not exist. The configuration will not take effect until the module is inserted."
    assert room.type("configure", "interface Ethernet77") == warning


def test_sections_and_pipes(shown):
    block = "qos profile ROCE\n   qos trust dscp\n   priority-flow-control on\n"
    assert shown("show running-config section qos profile").startswith(block)
    assert shown("show running-config | include priority 3") == "   priority-flow-control priority 3 no-drop\n"


@pytest.mark.parametrize(("platform", "model"), [("xgs", "DCS-7060X6-64PE"), ("jericho", "DCS-7280CR3-32P4")])
def test_show_version_names_the_hardware(room, model):
    shown = json.loads(room.type("show version | json"))
    assert (shown["mfgName"], shown["modelName"]) == ("Arista", model)
    assert room.type("show version").startswith(f"Arista {model}\nHardware version: ")


def test_long_output_waits_for_a_key_unless_the_terminal_is_endless(room):
    last = "ip address 10.77.1.41/24"
    room.type("enable", "configure", *PROFILE, "end")
    assert last not in room.type("show running-config")
    assert room.prompt() == "--More--"
    assert last in room.type("")
    assert room.prompt() == "leaf1#"
    assert last in room.type("terminal length 0", "show running-config")
