# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVUE's objects as NVIDIA's pages show them, and its revisions: pending edits per user, apply, confirm."""

from __future__ import annotations

import pytest

from lab.emulators.fabric.nvue import tree
from lab.emulators.fabric.nvue.tree import expand

MTU, TIMED = "nv set interface swp1 link mtu 9000", "nv config apply -y --confirm 300s"


def typed(*lines, minor=11):
    configuration: tree.Tree = {}
    for line in lines:
        verb, *words = line.split()
        if verb == "set":
            tree.set_(configuration, words, minor)
        else:
            tree.unset(configuration, words)
    return configuration


def test_ports_are_named_as_the_help_text_says():
    """`nv set interface -h`: swp1-2,5-6 -> swp1,swp2,swp5,swp6."""
    assert expand("swp1-2,5-6") == ["swp1", "swp2", "swp5", "swp6"]
    assert expand("swp1s0-1,swp9") == ["swp1s0", "swp1s1", "swp9"]


def test_several_keys_are_set_at_once():
    done = typed("set qos egress-scheduler default-global traffic-class 2,6 bw-percent 30")
    part = {"bw-percent": 30}
    assert done == {"qos": {"egress-scheduler": {"default-global": {"traffic-class": {"2": part, "6": part}}}}}


@pytest.mark.parametrize(("minor", "leaf"), [(14, {"enable": "on"}), (15, {"state": "enabled"})])
def test_what_switches_roce_on_is_written_down_in_the_words_of_the_release(minor, leaf):
    assert typed("set qos roce", minor=minor) == {"qos": {"roce": {**leaf, "mode": "lossless"}}}


def test_what_ports_share_is_printed_once_under_their_range():
    lines = ["set interface swp1-4,7 link mtu 9000", "set interface swp2 description uplink"]
    assert tree.commands(typed(*lines)) == [f"nv {line}" for line in lines]


def test_unset_takes_values_and_objects_away():
    lines = ["set qos pfc default-global switch-priority 3,5", "unset qos pfc default-global switch-priority 5"]
    assert tree.commands(typed(*lines)) == ["nv set qos pfc default-global switch-priority 3"]
    assert typed(*lines, "unset qos pfc") == {}


def mtu(room, which="applied"):
    return room.state[which]["interface"]["swp1"].get("link", {}).get("mtu")


def test_a_confirmed_revision_is_saved_unless_auto_save_is_off(room):
    room.type(MTU, TIMED)
    assert (mtu(room), mtu(room, "startup"), room.state["revisions"]["2"]["state"]) == (9000, None, "confirm")
    room.type("nv config apply --confirm-yes")
    assert (mtu(room, "startup"), room.state["revisions"]["2"]["state"]) == (9000, "applied_and_saved")
    room.type("nv set system config auto-save state disabled", MTU.replace("9000", "9100"), "nv config apply -y")
    assert (mtu(room, "startup"), room.state["revisions"]["3"]["state"]) == (9000, "applied")
    room.type("nv config save")
    assert mtu(room, "startup") == 9100


def test_pending_edits_are_each_users_own_and_only_one_revision_waits(room):
    room.type(MTU, user="noc")
    assert room.type("nv config apply -y") == "config apply executed with no config diff"
    room.type(TIMED, user="noc")
    assert mtu(room) == 9000
    room.type("nv set interface swp2 link mtu 9000")
    assert "waiting for confirmation" in room.type(TIMED)
    room.type("nv config apply --confirm-no", user="noc")
    assert "no revision" in room.type("nv config apply --confirm-yes")


def test_the_hardware_rounds_thresholds_to_its_cells(room):
    """NVIDIA's page on RoCE: 150000 bytes are 159744 (156 KB) on Spectrum-4."""
    room.type("nv set qos roce", "nv config apply -y")
    status = room.type("nv show interface swp1 qos roce status -o json")
    for text in ('"min-threshold": "156.00 KB"', '"pfc-priority": "3"', '"rx-enabled": "yes"', '"tx-enabled": "yes"'):
        assert text in status
    assert '"trust-mode": "pcp,dscp"' in status
