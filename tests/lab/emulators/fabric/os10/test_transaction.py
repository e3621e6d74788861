# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One candidate for all users, the lock, commit and discard, as the User Guide 10.5 has them."""

ONE, TWO = "one", "two"
DIFF = "show diff candidate-configuration running-configuration"
LOCKED = "% Error: Configuration is locked by another session."


def type_(room, user, *lines):
    return room.type(*lines, user=user)


def running(room):
    return room.type("show running-configuration", user="reader").splitlines()


def test_a_line_outside_of_a_transaction_takes_effect_at_once(room):
    type_(room, ONE, "configure terminal", "hostname leaf9")
    assert "hostname leaf9" in running(room)
    assert type_(room, TWO, DIFF) == ""


def test_lines_of_a_transaction_wait_for_commit_and_the_session_then_goes_on_without(room):
    type_(room, ONE, "start transaction", "configure terminal", "interface ethernet 1/1/1", "mtu 9216")
    assert type_(room, ONE, f"do {DIFF}").splitlines() == ["!", "interface ethernet1/1/1", " mtu 9216"]
    assert " mtu 9216" not in running(room)
    type_(room, ONE, "do commit")
    assert " mtu 9216" in running(room)
    type_(room, ONE, "mtu 9000")
    assert " mtu 9000" in running(room)


def test_what_waits_can_be_discarded(room):
    type_(room, ONE, "start transaction", "configure terminal", "hostname leaf9", "end", "discard")
    assert type_(room, ONE, DIFF) == ""
    type_(room, ONE, "commit")
    assert "hostname leaf1" in running(room)


def test_what_a_session_leaves_waits_on_and_goes_with_anybodys_next_line(room):
    type_(room, ONE, "start transaction", "configure terminal", "interface ethernet1/1/1", "mtu 9216")
    room.leave(ONE)
    assert " mtu 9216" in type_(room, TWO, DIFF)
    type_(room, TWO, "configure terminal", "interface ethernet1/1/2", "description up")
    assert {" mtu 9216", " description up"} <= {*running(room)}


def test_the_lock_keeps_others_out_until_its_session_ends(room):
    type_(room, ONE, "lock", "start transaction", "configure terminal", "hostname leaf9")
    assert type_(room, TWO, "configure terminal", "hostname other") == LOCKED
    assert type_(room, TWO, "do discard") == LOCKED
    assert type_(room, TWO, "do lock").startswith("% Error: Configuration is already locked")
    room.leave(ONE)
    type_(room, TWO, "hostname other")
    assert "hostname other" in running(room)


def test_the_lock_fails_while_something_waits(room):
    type_(room, ONE, "start transaction", "configure terminal", "hostname leaf9")
    assert type_(room, TWO, "lock").startswith("% Error: Uncommitted changes")


def test_a_commit_is_whole_or_nothing(room):
    type_(room, ONE, "start transaction", "configure terminal", "interface ethernet1/1/1", "mtu 9216")
    for queue in (1, 2):
        type_(room, ONE, f"class-map type queuing Q{queue}", f"match queue {queue}")
        type_(room, ONE, "policy-map type queuing P", f"class Q{queue}", "bandwidth percent 60")
    assert type_(room, ONE, "do commit").endswith("is above 100 percent.")
    assert " mtu 9216" not in running(room)
    type_(room, ONE, "bandwidth percent 40", "do commit")
    assert {" mtu 9216", "  bandwidth percent 40"} <= {*running(room)}


def test_links_flap_when_their_mtu_changes_and_not_before_the_commit(room):
    type_(room, ONE, "start transaction", "configure terminal", "interface range ethernet1/1/1-1/1/3", "mtu 9216")
    assert room.flaps() == [0, 0, 0, 0]
    type_(room, ONE, "do commit")
    assert room.flaps() == [1, 1, 1, 0]


def test_a_restart_brings_back_what_was_saved_and_drops_what_waits(room):
    type_(room, ONE, "configure terminal", "hostname saved", "end", "write memory", "configure terminal")
    type_(room, ONE, "hostname unsaved", "do start transaction", "hostname waiting")
    room.type("show version", user=ONE, effect="reboot")
    assert "hostname saved" in running(room)
    assert type_(room, TWO, DIFF) == ""
