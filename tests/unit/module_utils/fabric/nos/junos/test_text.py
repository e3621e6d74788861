# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.text import (
    DIALECT,
    parse,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import CANDIDATE, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse

from lab.emulators.fabric.junos import commits
from tests.unit.emulated_junos import Junos, profile
from tests.unit.emulated_switch import QUICK, pass_silence

LEAF = profile(ports=1)
STORAGE = Storage(priority=4, dscp=34, bandwidth_percent=30)
COS = "class-of-service"
LOCK, APPLY, KEEP = "^configure exclusive", "^commit confirmed", "^commit$"
DIRTY = {
    "another class is lossless": (
        f"set {COS} forwarding-classes class ROCE queue-num 3",
        f"set {COS} forwarding-classes class ROCE no-loss",
        f"set {COS} forwarding-classes class ROCE pfc-priority 5",
        f"set {COS} classifiers dscp ROCE forwarding-class ROCE loss-priority low code-points 100010",
        f"set {COS} congestion-notification-profile ROCE input dscp code-point 100010 pfc",
        f"set {COS} congestion-notification-profile ROCE output ieee-802.1 code-point 101 flow-control-queue 3",
        f"set {COS} interfaces et-0/0/0 congestion-notification-profile ROCE",
    ),
    "others' class of service": (
        f"set {COS} forwarding-classes class bulk queue-num 1",
        f"set {COS} classifiers dscp bulk forwarding-class bulk loss-priority high code-points 001000",
        f"set {COS} schedulers bulk transmit-rate percent 10",
        f"set {COS} scheduler-maps bulk forwarding-class bulk scheduler bulk",
        f"set {COS} congestion-notification-profile bulk input ieee-802.1 code-point 001 pfc",
        f"set {COS} congestion-notification-profile ROCE input cable-length 40",
        f"set {COS} interfaces et-0/0/2 scheduler-map bulk",
        f"set {COS} interfaces et-0/0/0 unit 0 classifiers ieee-802.1 default",
        "set groups jumbo interfaces <et-*> mtu 9214",
        "set apply-groups jumbo",
        'set interfaces et-0/0/0 description "to gpu01"',
    ),
}


def lines_of(want: list[str], start: str) -> list[str]:
    return [line for line in want if line.startswith(start)]


def test_thresholds_are_percents_of_what_a_queue_can_buffer() -> None:
    lines = lines_of(render(LEAF).lines(), f"{COS} drop-profiles ROCE interpolate fill-level")
    assert [line.split()[-1] for line in lines] == ["2", "19"]  # of 8086414 bytes
    given = render(replace(LEAF, queue_buffer_bytes=3_000_000)).lines()
    assert [line.split()[-1] for line in lines_of(given, f"{COS} drop-profiles ROCE interpolate fill")] == ["5", "50"]


def test_storage_has_a_share_of_its_own_and_other_traffic_the_rest() -> None:
    lines = render(replace(LEAF, storage=STORAGE)).lines()
    assert f"{COS} forwarding-classes class ROCE-STORAGE queue-num 2" in lines
    assert f"{COS} schedulers ROCE-STORAGE transmit-rate percent 30" in lines
    assert f"{COS} schedulers ROCE-REST transmit-rate percent 15" in lines
    assert not any("ROCE-STORAGE no-loss" in line for line in lines)


def test_lossless_storage_is_paused_and_marked_too() -> None:
    lines = render(replace(LEAF, storage=replace(STORAGE, lossless=True))).lines()
    assert f"{COS} forwarding-classes class ROCE-STORAGE pfc-priority 4" in lines
    assert f"{COS} schedulers ROCE-STORAGE explicit-congestion-notification" in lines
    path = f"{COS} congestion-notification-profile ROCE"
    assert f"{path} input dscp code-point 100010 pfc" in lines
    assert f"{path} output ieee-802.1 code-point 100 flow-control-queue 3" in lines


def test_who_waits_is_ours_by_the_comment() -> None:
    history = (
        "0   2026-11-25 09:00:00 UTC by noc via cli commit confirmed, rollback in 5mins\n    {}\n    rollback pending"
    )
    applied = "Physical interface: et-0/0/0, Index: 1"
    ours = parse(("set system host-name x", history.format("drawbridge-a"), applied), LEAF)
    assert (ours.waiting, ours.foreign) == ("drawbridge-a", ())
    others = parse(("set system host-name x", history.format("upgrade"), applied), LEAF)
    assert (others.waiting, others.foreign) == ("", ("upgrade (noc)",))


@pytest.mark.parametrize("lines", DIRTY.values(), ids=DIRTY)
def test_check_mode_predicts_the_run_and_what_is_not_ours_stays(junos: Junos, lines: tuple[str, ...]) -> None:
    junos.type(*lines)
    before = junos.lines()
    junos.journal()
    predicted = junos.converge(check=True)
    assert not any(call["writes"] or call.get("stages") for call in junos.journal())
    done = junos.converge()
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert junos.converge().steps == []
    kept = [line for line in before if " ROCE" not in line or "cable-length" in line]
    assert set(kept) <= set(junos.lines())


def test_a_port_that_a_group_gives_its_mtu_is_not_typed(junos: Junos) -> None:
    junos.type("set groups jumbo interfaces <et-*> mtu 9214", "set apply-groups jumbo")
    assert junos.converge().error == ""
    assert not any(line.startswith("set interfaces et-0/0/0 mtu") for line in junos.lines())
    assert set(junos.ports("flaps").values()) == {1}  # by the group


def test_a_bundle_has_the_class_in_place_of_its_members(junos: Junos) -> None:
    members = ("et-0/0/2", "et-0/0/3")
    junos.type(
        *(f"set interfaces {name} ether-options 802.3ad ae0" for name in members),
        *(f"delete interfaces {name} unit 0" for name in members),
        "set interfaces ae0 unit 0 family inet address 10.20.1.0/31",
        "set interfaces ae0 aggregated-ether-options flow-control",
    )
    want = replace(profile(), ports=("et-0/0/0", "ae0"))
    assert junos.converge(want=want).error == ""
    assert f"set {COS} interfaces ae0 congestion-notification-profile ROCE" in junos.lines()
    assert "set interfaces ae0 mtu 9214" in junos.lines()
    assert "set interfaces ae0 aggregated-ether-options flow-control" not in junos.lines()
    assert junos.converge(want=want).steps == []
    with pytest.raises(DeviceError, match=r"et-0/0/2 is in ae0, which has the class; list ae0 in ports instead"):
        junos.converge(want=replace(want, ports=members))
    with pytest.raises(DeviceError, match="it has no ae1"):
        junos.converge(want=replace(want, ports=("ae1",)))


def test_a_change_of_pfc_waits_for_the_nodes_and_ports_wait_for_it(junos: Junos) -> None:
    assert junos.converge().error == ""
    path = f"{COS} congestion-notification-profile ROCE"
    junos.type(f"set {path} input dscp code-point 100010 pfc", "delete interfaces et-0/0/1 mtu")
    blocked, flaps = junos.ports("blocked"), junos.ports("flaps")
    behind = {"et-0/0/0": ["gpu01"], "et-0/0/1": ["gpu02"]}
    busy = Traffic(behind, use=ClusterUse(frozenset({"gpu02"}), unknown=""), consent="site_says_so")
    waits = junos.converge(traffic=busy, want=replace(profile(), storage=STORAGE))
    assert (waits.error, waits.changed) == ("", True), "storage is a class of its own, and no port stops for it"
    profile_waits, port_waits = waits.pending
    assert "blocks all its ports for a moment: gpu01 is not drained in Slurm" in profile_waits
    assert profile_waits.endswith("or allow it with the line: site_says_so: true")
    assert port_waits.endswith("it needs the change of congestion notification profile ROCE, which waits")
    assert (junos.ports("blocked"), junos.ports("flaps")) == (blocked, flaps)
    drained = replace(busy, use=ClusterUse(frozenset({"gpu01", "gpu02"}), unknown=""))
    assert junos.converge(traffic=drained).pending == []
    assert junos.converge(traffic=busy).steps == []


@pytest.mark.parametrize(
    ("effect", "match", "words"),
    [
        ("refuse", LOCK, "refused 'configure exclusive'"),
        ("refuse", "mtu 9214", "refused 'set interfaces et-0/0/0 mtu 9214'"),
        ("refuse", APPLY, "refused 'commit confirmed 5 comment drawbridge-"),
        ("refuse", KEEP, "refused 'commit': error"),
        ("lie", "code-points 011010", "classifier lacks"),
        ("lie", APPLY, "reported success, but the change is not in effect"),
        ("lie", KEEP, "still waits for confirmation"),
        ("drift", APPLY, "reported success, but the change is not in effect"),
        ("die", "mtu 9214", "dropped the connection"),
        ("die", APPLY, "dropped the connection"),
        ("reboot", "mtu 9214", "dropped the connection"),
        ("stale", LOCK, "<commit-confirmed>rollback pending"),
    ],
)
def test_a_change_that_fails_is_rolled_back_and_the_next_run_makes_it(
    junos: Junos, effect: str, match: str, words: str
) -> None:
    junos.type("set system host-name leaf1")
    before = junos.lines()
    junos.fault(effect, match)
    outcome = junos.converge()
    assert words in outcome.error
    assert (outcome.changed, outcome.left) == (False, outcome.steps)
    assert [line for line in junos.lines() if not line.endswith("description maintenance")] == before
    assert junos.waiting() is (effect == "stale"), "another user's commit is left alone"
    if effect == "stale":
        refused = junos.converge()
        assert refused.error.endswith("on the switch with: configure exclusive; rollback 1; commit; exit")
        (junos.keys / "clock").write_text("3601")
    assert junos.converge().error == ""
    assert junos.converge().steps == []


def test_a_switch_that_hangs_ends_in_the_old_state(junos: Junos, monkeypatch: pytest.MonkeyPatch) -> None:
    junos.type("set system host-name leaf1")
    before = junos.lines()
    junos.fault("hang", "mtu 9214")
    pass_silence(monkeypatch, junos.armed)
    assert "gave no answer within 60 s" in junos.converge().error
    assert (junos.lines(), junos.waiting()) == (before, False)


def test_a_confirmation_whose_answer_is_lost_still_counts(junos: Junos) -> None:
    junos.fault("die", KEEP)
    assert junos.converge().error == ""
    assert not junos.waiting()


def test_another_users_edits_in_the_candidate_are_neither_committed_nor_lost(junos: Junos) -> None:
    junos.edit("interfaces et-0/0/3 mtu 1600")
    outcome = junos.converge()
    assert "refused 'configure exclusive': error: configuration database modified" in outcome.error
    assert not any("mtu" in line for line in junos.lines())
    with junos.state() as state:
        assert "interfaces et-0/0/3 mtu 1600" in state["candidate"]


def wait_unconfirmed(junos: Junos, seconds: int = 300) -> None:
    """Make a switch whose change is in force, and whose run was killed before it confirmed."""
    junos.limits = replace(QUICK, confirm_s=seconds)
    with junos.switch() as switch:
        steps = plan(DIALECT, switch.read(), render(profile()))
        switch._try_out([line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines])
    assert junos.waiting()


@pytest.mark.parametrize(("seconds", "minutes"), [(300, 5), (301, 6), (20, 1)])
def test_a_run_that_is_killed_leaves_a_switch_that_goes_back_by_itself_after_whole_minutes(
    junos: Junos, seconds: int, minutes: int
) -> None:
    junos.type("set system host-name leaf1")
    before = junos.lines()
    wait_unconfirmed(junos, seconds)
    assert junos.lines() != before
    (junos.keys / "clock").write_text(str(minutes * 60 - 2))
    assert junos.converge(check=True).steps[0].startswith("confirm the session drawbridge-")
    (junos.keys / "clock").write_text(str(minutes * 60 + 1))
    assert not junos.converge(check=True).steps[0].startswith("confirm")
    assert (junos.lines(), junos.waiting()) == (before, False)


def test_a_switch_that_restarts_in_mid_change_ends_in_the_old_state(junos: Junos) -> None:
    junos.type("set system host-name leaf1")
    before = junos.lines()
    with junos.switch() as switch:
        steps = plan(DIALECT, switch.read(), render(profile()))
        switch._try_out([line for step in steps for line in step.payload.lines])
        with junos.state() as state:
            commits.restart(state, 0)
        with pytest.raises(DeviceError, match="the change was rolled back"):
            switch._keep("drawbridge-a", DIALECT.confirm(""), steps[-1].becomes(switch.last))
    assert (junos.lines(), junos.waiting()) == (before, False)


def test_no_secret_is_typed_and_no_line_is_longer_than_a_terminal(junos: Junos) -> None:
    assert junos.converge().error == ""
    lines = [call["line"] for call in junos.journal() if "line" in call]
    assert max(map(len, lines)) < 200, json.dumps(lines)
