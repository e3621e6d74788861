# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration as OS10 prints it and what it refuses, against captures and Dell's RoCE configurations."""

import pytest

CAPTURE = """\
!
interface ethernet1/1/1
 no shutdown
 switchport access vlan 1
 flowcontrol receive on
!"""
"""A port of a new switch: `show running-configuration` of OS10 10.5.1.4, public capture."""
PASTED = """\
class-map type queuing Q3
 match queue 3
!
class-map type queuing Q6
 match queue 6
!
class-map type network-qos SmbStorage
 match qos-group 3
!
trust dot1p-map trust_map
 qos-group 0 dot1p 0-2,4,6-7
 qos-group 3 dot1p 3
!
qos-map traffic-class queue-map
 queue 0 qos-group 0-2,4,6-7
 queue 3 qos-group 3
!
policy-map type queuing ets-policy
 !
 class Q3
  bandwidth percent 50
 !
 class Q6
  bandwidth percent 2
!
policy-map type network-qos pfc-policy
 !
 class SmbStorage
  pause
  pfc-cos 3
!
interface range ethernet1/1/1-1/1/2
 mtu 9216
 flowcontrol receive off
 flowcontrol transmit off
 priority-flow-control mode on
 service-policy input type network-qos pfc-policy
 service-policy output type queuing ets-policy
 ets mode on
 qos-map traffic-class queue-map
!"""
"""To be pasted as it is: Dell's own configuration for RoCE, H19195.5, with fewer classes and ports."""


@pytest.fixture
def type_lines(room):
    """Type lines into the configuration of a new switch; give what the last one shows."""
    room.type("configure terminal")
    return room.type


def running(type_lines):
    return type_lines("do show running-configuration")


def test_a_new_port_is_printed_as_in_a_capture(type_lines):
    assert CAPTURE in running(type_lines)


def test_dells_own_configuration_is_taken_as_it_is_pasted(type_lines):
    for line in PASTED.splitlines():
        assert type_lines(line) == "", line
    shown = running(type_lines)
    before_ports = PASTED[: PASTED.index("!\ninterface range")]
    assert all(line in shown.splitlines() for line in before_ports.splitlines())
    assert " !\n class Q3\n  bandwidth percent 50\n !\n class Q6\n  bandwidth percent 2" in shown
    assert shown.count(" ets mode on\n qos-map traffic-class queue-map") == 2
    assert "flowcontrol transmit off" not in shown
    assert type_lines("do show interface ethernet1/1/2 priority-flow-control details").splitlines()[:4] == [
        "ethernet1/1/2",
        "  Admin Mode : true",
        "  Operstatus: true",
        "  PFC Priorities: 3",
    ]


@pytest.mark.parametrize(
    ("lines", "printed"),
    [
        (("trust dscp-map M", "qos-group 3 dscp 26,24,25"), " qos-group 3 dscp 24-26"),
        (("interface ethernet 1/1/1", "mtu 9216"), " mtu 9216"),
        (("int eth1/1/1", "no switchport"), " no switchport"),
    ],
)
def test_lines_are_spelled_as_os10_does(type_lines, lines, printed):
    assert type_lines(*lines) == ""
    assert printed in running(type_lines).splitlines()


@pytest.mark.parametrize("line", ["mtu 1532", "ets mode off", "flowcontrol transmit off"])
def test_defaults_are_not_printed(type_lines, line):
    type_lines("interface ethernet1/1/1", line)
    assert line not in running(type_lines)


POLICY = ("class-map type network-qos C", "policy-map type network-qos P", "class C", "pause")
PORT, APPLY = "interface ethernet1/1/1", "service-policy input type network-qos"
QUEUE = ("class-map type queuing Q", "policy-map type queuing P", "class Q")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("hostnam leaf1 x",), "% Error: "),
        (("show running-configuration",), "% Error: Unrecognized command."),
        (("interface ethernet1/1/9",), "Interface does not exist"),
        ((PORT, "mtu 100000"), "% Error: Unrecognized command."),
        ((PORT, "priority-flow-control mode on"), "exclude each other"),
        ((PORT, f"{APPLY} P"), "policy-map type network-qos P does not exist"),
        (("policy-map type network-qos P", "class C"), "class-map type network-qos C does not exist"),
        (("policy-map type queuing P", "class C"), "class-map type queuing C does not exist"),
        ((PORT, "trust-map dscp M"), "trust dscp-map M does not exist"),
        ((*POLICY, "no class-map type network-qos C"), "class-map type network-qos C is in use"),
        ((*POLICY, PORT, f"{APPLY} P", "no policy-map type network-qos P"), "policy-map type network-qos P is in use"),
        ((*POLICY, "policy-map type network-qos R", PORT, f"{APPLY} P", f"{APPLY} R"), "already applied"),
        (("trust dscp-map M", "qos-group 3 dscp 24-31", "qos-group 5 dscp 26"), "already mapped"),
        ((*QUEUE, "priority", "bandwidth percent 5"), "either"),
    ],
)
def test_what_os10_refuses(type_lines, lines, words):
    shown = type_lines(*lines)
    assert shown.startswith("% Error: ")
    assert words in shown


@pytest.mark.parametrize(
    ("lines", "prompt"),
    [
        ((), "leaf1(config)#"),
        (("interface ethernet 1/1/1",), "leaf1(conf-if-eth1/1/1)#"),
        (("interface range ethernet1/1/1-1/1/3",), "leaf1(conf-range-eth1/1/1-1/1/3)#"),
        (("interface mgmt1/1/1",), "leaf1(conf-if-ma-1/1/1)#"),
        (("trust dscp-map M",), "leaf1(config-tmap-dscp-map)#"),
        ((*POLICY, "end"), "leaf1#"),
        (POLICY, "leaf1(config-pmap-c-nqos)#"),
        ((*POLICY, "policy-map type network-qos P"), "leaf1(config-pmap-network-qos)#"),
    ],
)
def test_the_prompt_says_the_mode(room, type_lines, lines, prompt):
    for line in lines:
        assert type_lines(line) == ""
    assert room.prompt() == prompt
