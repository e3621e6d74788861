# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.text import (
    render,
)

from lab.emulators.fabric.junos import commits, statements
from tests.unit.emulated_switch import profile
from tests.unit.emulated_systems import Junos

LEAF = profile("junos", 1)
COS = "class-of-service"


@pytest.mark.parametrize(("buffer", "levels"), [(0, ["2", "19"]), (3_000_000, ["5", "50"])])
def test_thresholds_are_percents_of_what_a_queue_can_buffer(buffer: int, levels: list[str]) -> None:
    """Without a size in the intent, that is 8086414 bytes."""
    lines = render(replace(LEAF, queue_buffer_bytes=buffer)).lines()
    assert [line.split()[-1] for line in lines if "interpolate fill-level" in line] == levels


@pytest.mark.parametrize(("lossless", "queue"), [(False, 2), (True, 3)])
def test_storage_has_a_share_of_its_own_and_is_paused_and_marked_if_lossless(lossless: bool, queue: int) -> None:
    storage = Storage(priority=4, dscp=34, bandwidth_percent=30, lossless=lossless)
    lines = render(replace(LEAF, storage=storage)).lines()
    assert f"{COS} forwarding-classes class ROCE-STORAGE queue-num {queue}" in lines
    assert f"{COS} schedulers ROCE-STORAGE transmit-rate percent 30" in lines
    assert f"{COS} schedulers ROCE-REST transmit-rate percent 15" in lines
    path = f"{COS} congestion-notification-profile ROCE"
    only_lossless = {
        f"{COS} forwarding-classes class ROCE-STORAGE no-loss",
        f"{COS} forwarding-classes class ROCE-STORAGE pfc-priority 4",
        f"{COS} schedulers ROCE-STORAGE explicit-congestion-notification",
        f"{path} input dscp code-point 100010 pfc",
        f"{path} output ieee-802.1 code-point 100 flow-control-queue 3",
    }
    assert only_lossless & {*lines} == (only_lossless if lossless else set())


def test_a_port_that_a_group_gives_its_mtu_is_not_typed(junos: Junos) -> None:
    junos.type("set groups jumbo interfaces <et-*> mtu 9214", "set apply-groups jumbo")
    assert junos.converge().error == ""
    assert not any(line.startswith("set interfaces et-0/0/0 mtu") for line in junos.lines())
    assert set(junos.flaps()) == {1}, "by the group"


def test_a_bundle_has_the_class_in_place_of_its_members(junos: Junos) -> None:
    members = ("et-0/0/2", "et-0/0/3")
    junos.type(
        *(f"set interfaces {name} ether-options 802.3ad ae0" for name in members),
        *(f"delete interfaces {name} unit 0" for name in members),
        "set interfaces ae0 unit 0 family inet address 10.20.1.0/31",
        "set interfaces ae0 aggregated-ether-options flow-control",
    )
    want = replace(profile("junos"), ports=("et-0/0/0", "ae0"))
    assert junos.converge(want=want).error == ""
    assert f"set {COS} interfaces ae0 congestion-notification-profile ROCE" in junos.lines()
    assert "set interfaces ae0 mtu 9214" in junos.lines()
    assert "set interfaces ae0 aggregated-ether-options flow-control" not in junos.lines()
    assert junos.converge(want=want).steps == []
    with pytest.raises(DeviceError, match=r"et-0/0/2 is in ae0, which has the class; list ae0 in ports instead"):
        junos.converge(want=replace(want, ports=members))
    with pytest.raises(DeviceError, match="it has no ae1"):
        junos.converge(want=replace(want, ports=("ae1",)))


def test_another_users_edits_in_the_candidate_are_neither_committed_nor_lost(junos: Junos) -> None:
    with junos.state() as state:
        config = commits.candidate(state)
        statements.set_(config, ["interfaces", "et-0/0/3", "mtu", "1600"])
        commits.stage(state, "noc", config)
    outcome = junos.converge()
    assert "refused 'configure exclusive': error: configuration database modified" in outcome.error
    assert not any("mtu" in line for line in junos.lines())
    with junos.state() as state:
        assert "interfaces et-0/0/3 mtu 1600" in state["candidate"]


def test_no_secret_is_typed_and_no_line_is_longer_than_a_terminal(junos: Junos) -> None:
    assert junos.converge().error == ""
    lines = [call["line"] for call in junos.journal() if "line" in call]
    assert max(map(len, lines)) < 200, json.dumps(lines)
