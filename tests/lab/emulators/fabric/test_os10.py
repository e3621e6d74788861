# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration as OS10 prints it, against captures and Dell's RoCE configurations; one candidate for all users."""

import pytest

ONE, TWO = "one", "two"
DIFF = "show diff candidate-configuration running-configuration"
LOCKED = "% Error: Configuration is locked by another session."
STAGED = ("start transaction", "configure terminal", "interface ethernet1/1/1", "mtu 9216")
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


def shown(room):
    return room.type("show running-configuration", user="reader")


def test_a_new_port_is_printed_as_in_a_capture(room):
    assert CAPTURE in shown(room)


def test_dells_own_configuration_is_taken_as_it_is_pasted(room):
    for line in ("configure terminal", *PASTED.splitlines()):
        assert room.type(line) == "", line
    text = shown(room)
    before_ports = PASTED[: PASTED.index("!\ninterface range")]
    assert all(line in text.splitlines() for line in before_ports.splitlines())
    assert " !\n class Q3\n  bandwidth percent 50\n !\n class Q6\n  bandwidth percent 2" in text
    assert text.count(" ets mode on\n qos-map traffic-class queue-map") == 2
    assert "flowcontrol transmit off" not in text
    assert room.type("do show interface ethernet1/1/2 priority-flow-control details").splitlines()[:4] == [
        "ethernet1/1/2",
        "  Admin Mode : true",
        "  Operstatus: true",
        "  PFC Priorities: 3",
    ]


@pytest.mark.parametrize(
    ("lines", "line", "printed"),
    [
        (("trust dscp-map M", "qos-group 3 dscp 26,24,25"), " qos-group 3 dscp 24-26", True),
        (("interface ethernet 1/1/1", "mtu 9216"), " mtu 9216", True),
        (("int eth1/1/1", "no switchport"), " no switchport", True),
        (("interface ethernet1/1/1", "mtu 1532"), " mtu 1532", False),
        (("interface ethernet1/1/1", "ets mode off"), " ets mode off", False),
    ],
)
def test_lines_are_spelled_as_os10_does_and_defaults_are_not_printed(room, lines, line, printed):
    assert room.type("configure terminal", *lines) == ""
    assert (line in shown(room).splitlines()) is printed


def test_a_line_outside_of_a_transaction_takes_effect_at_once(room):
    room.type("configure terminal", "hostname leaf9", user=ONE)
    assert "hostname leaf9" in room.running()
    assert room.type(DIFF, user=TWO) == ""


def test_lines_of_a_transaction_wait_for_commit_and_the_session_then_goes_on_without(room):
    room.type(*STAGED, user=ONE)
    assert room.type(f"do {DIFF}", user=ONE).splitlines() == ["!", "interface ethernet1/1/1", " mtu 9216"]
    assert "mtu 9216" not in room.running()
    room.type("do commit", user=ONE)
    assert "mtu 9216" in room.running()
    room.type("mtu 9000", user=ONE)
    assert "mtu 9000" in room.running()


def test_what_a_session_leaves_waits_on_and_goes_with_anybodys_next_line(room):
    room.type(*STAGED, user=ONE)
    room.leave(ONE)
    assert " mtu 9216" in room.type(DIFF, user=TWO)
    room.type("configure terminal", "interface ethernet1/1/2", "description up", user=TWO)
    assert {"mtu 9216", "description up"} <= {*room.running()}


def test_the_lock_keeps_others_out_until_its_session_ends_and_fails_while_something_waits(room):
    room.type("lock", *STAGED, user=ONE)
    assert room.type("configure terminal", "hostname other", user=TWO) == LOCKED
    assert room.type("do discard", user=TWO) == LOCKED
    assert room.type("do lock", user=TWO).startswith("% Error: Configuration is already locked")
    room.leave(ONE)
    assert room.type("do lock", user=TWO).startswith("% Error: Uncommitted changes")
    room.type("hostname other", user=TWO)
    assert "hostname other" in room.running()


def test_a_commit_is_whole_or_nothing(room):
    room.type(*STAGED)
    for queue in (1, 2):
        room.type(f"class-map type queuing Q{queue}", f"match queue {queue}")
        room.type("policy-map type queuing P", f"class Q{queue}", "bandwidth percent 60")
    assert room.type("do commit").endswith("is above 100 percent.")
    assert "mtu 9216" not in room.running()
    room.type("bandwidth percent 40", "do commit")
    assert {"mtu 9216", "bandwidth percent 40"} <= {*room.running()}


def test_links_of_a_range_flap_when_their_mtu_changes_and_not_before_the_commit(room):
    room.type("start transaction", "configure terminal", "interface range ethernet1/1/1-1/1/3", "mtu 9216")
    assert room.flaps() == [0, 0, 0, 0]
    room.type("do commit")
    assert room.flaps() == [1, 1, 1, 0]


def test_a_restart_brings_back_the_last_saved_lines(room):
    room.type("configure terminal", "hostname saved", "end", "write memory", "configure terminal", "hostname unsaved")
    room.type("show version", effect="reboot")
    assert "hostname saved" in room.running()
