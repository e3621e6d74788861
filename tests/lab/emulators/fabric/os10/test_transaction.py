# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One candidate for all users, the lock, commit and discard, as the User Guide 10.5 has them."""

import pytest

from lab.emulators.common import Device
from lab.emulators.fabric.os10.switch import Switch
from lab.emulators.fabric.os10.transaction import factory

ONE, TWO = "vty1", "vty2"
DIFF = "show diff candidate-configuration running-configuration"
LOCKED = "% Error: Configuration is locked by another session."


class Users:
    """Users of one switch, each at a terminal."""

    def __init__(self, root):
        self.switch = Switch(Device(root / "leaf1"), factory("leaf1", "xgs", 4, "10.77.1.41"))
        self.terminals = {}

    def type(self, vty, *lines):
        """Type lines; return what the last one shows."""
        cli = self.terminals.setdefault(vty, self.switch.cli("admin", vty, once=False))
        return [self.switch.execute(cli, line) for line in lines][-1]

    def prompt(self, vty):
        return self.switch.prompt(self.terminals[vty])

    def leave(self, vty):
        self.switch.logged_out(self.terminals.pop(vty))

    def running(self):
        return self.type("vty9", "show running-configuration").splitlines()


@pytest.fixture
def users(tmp_path):
    return Users(tmp_path)


def test_a_line_outside_of_a_transaction_takes_effect_at_once(users):
    users.type(ONE, "configure terminal", "hostname leaf9")
    assert "hostname leaf9" in users.running()
    assert users.type(TWO, DIFF) == ""


def test_lines_of_a_transaction_wait_for_commit_and_the_session_then_goes_on_without(users):
    users.type(ONE, "start transaction", "configure terminal", "interface ethernet 1/1/1", "mtu 9216")
    assert users.type(ONE, f"do {DIFF}").splitlines() == ["!", "interface ethernet1/1/1", " mtu 9216"]
    assert " mtu 9216" not in users.running()
    users.type(ONE, "do commit")
    assert " mtu 9216" in users.running()
    users.type(ONE, "mtu 9000")
    assert " mtu 9000" in users.running()


def test_what_waits_can_be_discarded(users):
    users.type(ONE, "start transaction", "configure terminal", "hostname leaf9", "end", "discard")
    assert users.type(ONE, DIFF) == ""
    users.type(ONE, "commit")
    assert "hostname leaf1" in users.running()


def test_what_a_session_leaves_waits_on_and_goes_with_anybodys_next_line(users):
    users.type(ONE, "start transaction", "configure terminal", "interface ethernet1/1/1", "mtu 9216")
    users.leave(ONE)
    assert " mtu 9216" in users.type(TWO, DIFF)
    users.type(TWO, "configure terminal", "interface ethernet1/1/2", "description up")
    assert {" mtu 9216", " description up"} <= {*users.running()}


def test_the_lock_keeps_others_out_until_its_session_ends(users):
    users.type(ONE, "lock", "start transaction", "configure terminal", "hostname leaf9")
    assert users.type(TWO, "configure terminal", "hostname other") == LOCKED
    assert users.type(TWO, "do discard") == LOCKED
    assert users.type(TWO, "do lock").startswith("% Error: Configuration is already locked")
    users.leave(ONE)
    users.type(TWO, "hostname other")
    assert "hostname other" in users.running()


def test_the_lock_fails_while_something_waits(users):
    users.type(ONE, "start transaction", "configure terminal", "hostname leaf9")
    assert users.type(TWO, "lock").startswith("% Error: Uncommitted changes")


def test_a_commit_is_whole_or_nothing(users):
    users.type(ONE, "start transaction", "configure terminal", "interface ethernet1/1/1", "mtu 9216")
    for queue in (1, 2):
        users.type(ONE, f"class-map type queuing Q{queue}", f"match queue {queue}")
        users.type(ONE, "policy-map type queuing P", f"class Q{queue}", "bandwidth percent 60")
    assert users.type(ONE, "do commit").endswith("is above 100 percent.")
    assert " mtu 9216" not in users.running()
    users.type(ONE, "bandwidth percent 40", "do commit")
    assert {" mtu 9216", "  bandwidth percent 40"} <= {*users.running()}


def test_links_flap_when_their_mtu_changes_and_not_before_the_commit(users):
    def flaps():
        with users.switch.device.state() as state:
            return [port["flaps"] for port in state["ports"].values()]

    users.type(ONE, "start transaction", "configure terminal", "interface range ethernet1/1/1-1/1/3", "mtu 9216")
    assert flaps() == [0, 0, 0, 0]
    users.type(ONE, "do commit")
    assert flaps() == [1, 1, 1, 0]


def test_a_restart_brings_back_what_was_saved_and_drops_what_waits(users):
    users.type(ONE, "configure terminal", "hostname saved", "end", "write memory", "configure terminal")
    users.type(ONE, "hostname unsaved", "do start transaction", "hostname waiting")
    users.switch.execute(users.terminals[ONE], "show version", "reboot")
    assert "hostname saved" in users.running()
    assert users.type(TWO, DIFF) == ""
