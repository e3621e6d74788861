# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Revisions: pending edits per user, apply under a timer, confirm, roll-back."""

from __future__ import annotations

import pytest

from lab.emulators.fabric.nvue import revisions, shows
from lab.emulators.fabric.switch import Refused

MTU = ["interface", "swp1", "link", "mtu", "9000"]


@pytest.fixture
def state():
    return revisions.factory("leaf3", "spectrum", 4, "10.77.1.44")


def edited(state, *lines, user="admin"):
    for line in lines:
        revisions.edit(state, user, "set", line.split())


def mtu(state, which="applied"):
    return state[which]["interface"]["swp1"].get("link", {}).get("mtu")


def test_a_timed_apply_is_in_force_until_its_time_is_over(state):
    edited(state, " ".join(MTU))
    assert mtu(state) is None, "pending edits are not in force"
    revisions.apply(state, "admin", 0, 300, "try")
    assert (mtu(state), mtu(state, "startup"), state["ports"]["swp1"]["flaps"]) == (9000, None, 1)
    assert state["revisions"]["2"]["state"] == "confirm"
    assert revisions.expire(state, 299) == ""
    assert revisions.expire(state, 300) == "2"
    assert (mtu(state), state["ports"]["swp1"]["flaps"]) == (None, 2)


def test_a_confirmed_revision_is_saved_unless_auto_save_is_off(state):
    edited(state, " ".join(MTU))
    revisions.apply(state, "admin", 0, 300, "")
    revisions.confirm(state, "2")
    assert (mtu(state, "startup"), state["revisions"]["2"]["state"]) == (9000, "applied_and_saved")
    edited(state, "system config auto-save state disabled", "interface swp1 link mtu 9100")
    revisions.apply(state, "admin", 0, 0, "")
    assert (mtu(state, "startup"), state["revisions"]["3"]["state"]) == (9000, "applied")
    revisions.save(state)
    assert mtu(state, "startup") == 9100


def test_pending_edits_are_each_users_own(state):
    edited(state, " ".join(MTU), user="noc")
    edited(state, "interface swp2 link mtu 9000")
    revisions.detach(state, "admin")
    assert revisions.apply(state, "admin", 0, 0, "") == "config apply executed with no config diff"
    revisions.apply(state, "noc", 0, 0, "")
    assert mtu(state) == 9000


def test_only_one_revision_waits(state):
    edited(state, " ".join(MTU))
    revisions.apply(state, "admin", 0, 300, "")
    edited(state, "interface swp2 link mtu 9000", user="noc")
    with pytest.raises(Refused, match="waiting for confirmation"):
        revisions.apply(state, "noc", 0, 300, "")
    revisions.refuse(state, "", 1)
    with pytest.raises(Refused, match="no revision"):
        revisions.confirm(state, "2")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["qos egress-scheduler default-global traffic-class 0,3 mode dwrr"], "without bw-percent"),
        (["qos egress-scheduler default-global traffic-class 0,3 bw-percent 60"], "more than 100"),
        (["qos congestion-control default-global traffic-class 3 min-threshold 2000000"], "min-threshold"),
        (["interface swp1 qos pfc-watchdog"], "with PFC"),
        (["qos roce", "qos traffic-pool roce-lossless memory-percent 60"], "memory-percent is 110"),
    ],
)
def test_what_contradicts_itself_is_refused_when_it_is_applied(state, lines, reason):
    edited(state, *lines)
    with pytest.raises(Refused, match=reason):
        revisions.apply(state, "admin", 0, 0, "")
    assert state["applied"] == state["startup"]


def test_the_hardware_rounds_thresholds_to_its_cells(state):
    """NVIDIA's page on RoCE: 150000 bytes are 159744 (156 KB) on Spectrum-4."""
    edited(state, "qos roce")
    revisions.apply(state, "admin", 0, 0, "")
    status = shows.show(state, ["interface", "swp1", "qos", "roce", "status"])
    assert status["congestion-control"]["min-threshold"] == "156.00 KB"
    assert status["pfc"] == {"pfc-priority": "3", "rx-enabled": "yes", "tx-enabled": "yes"}
    assert status["trust"] == {"trust-mode": "pcp,dscp"}
