# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""JSON of dcb as iproute2 6.15 and 6.1 printed it on a test device, and commands of its manual."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.dcb_text import changes, parse
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.plan import NicPortQos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.queues import shared

PFC = {
    **{"pfc_cap": 8, "macsec_bypass": False, "delay": 7},
    "prio_pfc": [False, False, False, True, False, False, False, False],
}
APP = {"dscp_prio": [[0, 0, " "], [26, 3, " "], [48, 6, " "]]}
ETS = {
    **{"willing": False, "ets_cap": 8, "cbs": False, "tc_bw": [20, 0, 0, 80, 0, 0, 0, 0]},
    "tc_tsa": ["ets", "strict", "strict", "ets", "strict", "strict", "strict", "strict"],
    "prio_tc": [0, 0, 0, 3, 0, 0, 6, 0],
}
DCBX = {"host": True, "ieee": True}
QUEUES = shared({3: 80, 6: 0})
WANT = NicPortQos("dscp", {26: 3, 48: 6}, frozenset({3}), queues=QUEUES, cable_m=7)


def test_the_port_is_that_of_mlnx_qos() -> None:
    assert parse(PFC, APP, ETS, DCBX, WANT, True) == WANT
    older = {"dscp_prio": [entry[:2] for entry in APP["dscp_prio"]]}
    assert parse(PFC, older, ETS, DCBX, WANT, True) == WANT


def test_numbers_of_classes_are_the_drivers_own() -> None:
    """The same shares on a driver that has four classes."""
    few = {
        "tc_bw": [20, 80, 0, 0, 0, 0, 0, 0],
        "tc_tsa": ["ets", "ets", *["strict"] * 6],
        "prio_tc": [0, 0, 0, 1, 0, 0, 2, 0],
    }
    assert parse(PFC, APP, few, DCBX, WANT, True).queues == QUEUES


def test_an_empty_table_is_no_trust_and_no_dcbx_is_the_operating_systems() -> None:
    port = parse(PFC, {}, ETS, {}, WANT, True)
    assert (port.trust, port.dscp_priority, port.dcbx) == ("pcp", {}, "os")


@pytest.mark.parametrize("flags", [("cee", "ieee"), ("lld_managed", "ieee"), ("ieee",)], ids=["mlx5", "ice", "bnxt"])
def test_flags_that_are_not_set_have_no_key(flags: tuple[str, ...]) -> None:
    assert parse(PFC, APP, ETS, dict.fromkeys(flags, True), WANT, True).dcbx == "fw"


@pytest.mark.parametrize("entries", [[[26, 2], [26, 3]], [[26, 3], [26, 4]]])
def test_a_second_priority_of_a_dscp_is_a_difference(entries: list[list[int]]) -> None:
    found = parse(PFC, {"dscp_prio": entries}, ETS, DCBX, WANT, True).dscp_priority
    assert found == {26: entries[0][1] + entries[1][1] - 3}


def test_what_has_no_wanted_value_is_not_compared() -> None:
    port = parse(PFC, APP, {}, DCBX, NicPortQos("dscp", {26: 3}, frozenset({3})), True)
    assert (port.queues, port.cable_m, port.dscp_priority) == ((), 0, {26: 3})


OTHER = [(0, 0), (46, 5)]
"""Entries of others."""


@pytest.mark.parametrize(
    ("found", "commands"),
    [
        ([], [("add", ["26:3", "48:7"])]),
        (OTHER, [("add", ["26:3", "48:7"])]),
        ([(26, 3), (48, 7)], []),
        ([*OTHER, (26, 3), (48, 6)], [("del", ["48:6"]), ("add", ["48:7"])]),
        ([(26, 2)], [("add", ["48:7"]), ("del", ["26:2"]), ("add", ["26:3"])]),
        ([(26, 3), (48, 6), (48, 7)], [("del", ["48:6", "48:7"]), ("add", ["48:7"])]),
    ],
    ids=["no table", "others alone", "as wanted", "another priority", "one of two", "a second priority"],
)
def test_old_entries_of_a_dscp_go_before_the_new_one_comes(
    found: list[tuple[int, int]], commands: list[tuple[str, list[str]]]
) -> None:
    assert changes(found, {26: 3, 48: 7}, exchanges=False) == commands


def test_a_driver_that_exchanges_an_entry_has_no_moment_without_it() -> None:
    assert changes([(26, 3), (48, 6)], {26: 3, 48: 7}, exchanges=True) == [("add", ["48:7"])]


@pytest.mark.parametrize(("old", "spare"), [([(26, 2)], "0:0"), ([(26, 2), (26, 4)], "0:0"), ([(0, 3)], "9:1")])
def test_the_last_entry_stays_until_another_is_there(old: list[tuple[int, int]], spare: str) -> None:
    """ice gives a DSCP whose entry has gone the rest of a division by 8, and all drivers begin with the eighth."""
    dscp = old[0][0]
    commands = changes(old, {dscp: 5}, exchanges=False)
    gone = [f"{dscp}:{priority}" for _unused, priority in old]
    assert commands == [("add", [spare]), ("del", gone), ("add", [f"{dscp}:5"]), ("del", [spare])]
    at, priority = map(int, spare.split(":"))
    assert at % 8 == at >> 3 == priority
