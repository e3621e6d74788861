# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The transaction, against switches of all systems that lie, drop the line, and are changed by others."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import Config, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import Switch
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse
from netmiko.arista.arista import AristaSSH

from lab.emulators.fabric.eos import sessions
from tests.unit.emulated_switch import Leaf, profile
from tests.unit.module_utils.fabric.each_system import (
    CUMULUS,
    CUMULUS9,
    EACH,
    EOS,
    JUNOS,
    NEXUS,
    NEXUS9,
    OS10,
    PROVE,
    SAVE,
    SONIC,
    STATES,
    System,
    make_dirty,
    soil,
)

READS = (
    "show ",
    "nv show ",
    "nv config show ",
    "nv config revision ",
    "sonic-",
    "sudo sonic-cfggen ",
    "systemctl list",
    "cat ",
)
MAY_GO = r"PFC_WD\||PORT\|Ethernet[04] mtu|QUEUE\|Ethernet[04]\|[0-6]|PORT_QOS_MAP\|Ethernet[04] (\w+_map|pfc)"
"""What a run may take from a SONiC switch that has the platform's own classes."""


def connections(calls: list[dict[str, Any]]) -> int:
    return sum(call.get("event") == "connect" for call in calls)


def reads_only(calls: list[dict[str, Any]]) -> bool:
    return not any(call["writes"] or call.get("stages") for call in calls)


@EACH
def test_over_ssh_a_run_types_and_tells_what_it_does_at_a_terminal_of_this_process(switch: Any, system: System) -> None:
    """The other tests of a whole run need no SSH, then."""

    def ended(over_ssh: bool) -> tuple[Any, ...]:
        switch.reset()
        switch.over_ssh = over_ssh
        said = []
        for effect in ("die", "refuse"):
            switch.fault(effect, system.force)
            broken = switch.converge()
            said += [broken.error, *broken.left]
        done, left = switch.converge(), switch.converge(check=True)
        calls = switch.journal()
        typed = [call["line"] for call in calls if "line" in call]
        said += [done.error, *done.steps, *left.steps, *typed, *switch.lines()]
        return connections(calls), [re.sub("drawbridge-[0-9a-f]{8}", "NAME", text) for text in said]

    assert ended(over_ssh=True) == ended(over_ssh=False)


@EACH
def test_a_change_takes_two_sessions_and_the_next_run_only_reads_over_one(switch: Any, system: System) -> None:
    """Check mode predicts the change, and foreign configuration stays."""
    kind = type(switch)
    alone = kind.lines_of(soil(kind, kind.factory(), STATES[switch.system]["foreign"])[kind.running])
    others = {*alone} - {*kind.lines_of(kind.factory()[kind.running])}
    make_dirty(switch)
    before, flaps, other_port = switch.lines(), switch.flaps(), re.compile(rf"{profile(switch.system, 3).ports[2]}\b")
    switch.journal()
    predicted = switch.converge(check=True)
    assert reads_only(switch.journal())
    changed = switch.converge()
    assert (changed.error, changed.changed, changed.steps, changed.diff) == ("", True, predicted.steps, predicted.diff)
    assert (changed.steps[-1] == SAVE) is bool(system.save)
    assert (connections(switch.journal()), switch.waiting()) == (2, False)
    again = switch.converge()
    calls = switch.journal()
    assert (again.error, again.changed, again.steps, connections(calls), reads_only(calls)) == ("", False, [], 1, True)
    assert sum(call.get("line", "").startswith(READS) for call in calls) == system.reads
    if system != NEXUS9:  # its lines take effect one by one
        assert max(new - old for new, old in zip(switch.flaps(), flaps, strict=True)) == 1, "no port flaps twice"
    after = switch.lines()
    assert {line for line in others if switch.system != "sonic" or not re.match(MAY_GO, line)} <= {*after}
    assert [*filter(other_port.search, after)] == [*filter(other_port.search, before)]
    assert not any("drawbridge-" in line for line in after)
    assert not system.saved or switch.lines(system.saved) == after


@EACH
def test_ports_of_used_nodes_wait_and_ports_wait_for_the_whole_switch(switch: Any, system: System) -> None:
    first, second = switch.profile.ports
    behind = {first: ["gpu01"], second: ["gpu02"]}
    busy = Traffic(behind, use=ClusterUse(frozenset({"gpu01"}), why_unknown=""), consent="site_says_so")
    waits = switch.converge(traffic=busy)
    assert (waits.error, waits.changed) == ("", True)
    assert waits.pending[-1].startswith(f"interface {second}: ")
    used = waits.pending[0]
    assert "gpu02 is not drained in Slurm; drain gpu02 and run" in used
    assert used.endswith("or allow it with the line: site_says_so: true")
    if system.whole:
        assert used.startswith(f"{system.whole}: ")
        assert waits.pending[1].startswith(f"interface {first}: ")
        assert waits.pending[1].endswith(f"it needs the change of {system.whole}, which waits")
    assert len(waits.pending) == (3 if system.whole else 1)
    assert switch.flaps() == [int(not system.whole), 0, 0, 0]
    drained = replace(busy, use=ClusterUse(frozenset({"gpu01", "gpu02"}), why_unknown=""))
    assert switch.converge(traffic=drained).pending == []
    assert switch.converge(traffic=busy).steps == []


LOSSY = Storage(priority=4, dscp=34, bandwidth_percent=30)
LOSSLESS = replace(LOSSY, lossless=True)


@pytest.mark.parametrize(
    ("system", "classes", "leaves"),
    [
        (EOS, (LOSSY, LOSSLESS, None), "qos map|interface Ethernet[12] uc-tx-queue 4"),
        (CUMULUS, (LOSSY, None), "qos mapping"),
        (SONIC, (LOSSLESS, None), ""),
        (NEXUS, (LOSSLESS, None), "class-map .*ROCE-STORAGE"),
        (JUNOS, (LOSSY, LOSSLESS, None), ""),
        (OS10, (LOSSLESS, None), ""),
    ],
    ids=str,
)
def test_a_class_for_storage_comes_and_goes_beside_the_gpus(
    switch: Any, system: System, classes: tuple[Storage | None, ...], leaves: str
) -> None:
    """Some systems keep lines of a class that is gone."""
    assert not switch.converge().error
    alone = switch.lines()
    for storage in classes:
        want = replace(switch.profile, storage=storage)
        predicted = switch.converge(check=True, want=want)
        done = switch.converge(want=want)
        assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff), system
        assert switch.converge(want=want).steps == []
        assert (switch.lines() == alone) is (storage is None and not leaves)
    assert [line for line in switch.lines() if line not in alone and not re.match(leaves or "none", line)] == []


@EACH
def test_a_port_that_the_switch_does_not_have_is_refused_before_anything_is_typed(switch: Any, system: System) -> None:
    first, *_ = switch.profile.ports
    missing = profile(switch.system, 33).ports[-1]
    says = f"leaf1: it has no {missing}, which drawbridge_fabric"
    if system == CUMULUS9:  # it names the port, too
        says = f"leaf1 refused 'nv show interface {missing} .*: Error: The requested item does not exist"
    with (
        switch.switch(replace(switch.profile, ports=(first, missing))) as session,
        pytest.raises(DeviceError, match=says),
    ):
        session.read()
    assert reads_only(switch.journal()), system


@pytest.mark.parametrize("system", [EOS, CUMULUS, SONIC, NEXUS9, JUNOS, OS10], ids=str)
def test_drift_while_the_timer_runs_is_not_confirmed(switch: Any, system: System) -> None:
    make_dirty(switch, "foreign")
    before = switch.lines()
    switch.fault("drift", "pfcwd interval" if switch.system == "sonic" else system.force)
    outcome = switch.converge()
    assert "leaf1 reported success, but the change is not in effect" in outcome.error
    assert (switch.lines(), switch.waiting()) == (before, False)
    assert (switch.converge().error, switch.converge().steps) == ("", [])


@pytest.mark.parametrize(
    ("system", "confirm_s", "ends_s"),
    [
        (EOS, 300, 300),
        (CUMULUS, 300, 300),
        (SONIC, 300, 390),
        (NEXUS, 300, 300),
        *((JUNOS, seconds, minutes * 60) for seconds, minutes in ((300, 5), (301, 6), (20, 1))),
    ],
    ids=str,
)
def test_a_run_that_is_killed_leaves_a_switch_that_goes_back_by_itself(
    switch: Any, system: System, confirm_s: int, ends_s: int
) -> None:
    """Some systems count whole minutes, and SONiC's timer runs while the change is made."""
    make_dirty(switch)
    before = switch.lines()
    switch.leave_unproven(confirm_s)
    assert switch.waiting()
    switch.pass_time(ends_s - 15)
    switch.converge(check=True)
    assert switch.lines() != before
    switch.pass_time(ends_s + 1)
    assert switch.converge(check=True).steps
    assert (switch.lines(), switch.waiting()) == (before, False)


@pytest.mark.parametrize("system", [EOS, CUMULUS, SONIC, NEXUS9, JUNOS, OS10], ids=str)
def test_a_right_change_that_a_killed_run_left_is_proven_and_kept(switch: Any, system: System) -> None:
    switch.leave_unproven()
    predicted = switch.converge(check=True)
    outcome = switch.converge()
    assert (outcome.error, outcome.steps) == ("", predicted.steps)
    assert outcome.steps[0].startswith(PROVE if system == OS10 else "confirm the session drawbridge-")
    assert not system.saved or switch.lines(system.saved) == switch.lines()
    switch.pass_time(600)
    assert (switch.converge().steps, switch.waiting()) == ([], False)


@pytest.mark.parametrize("system", [EOS, JUNOS], ids=str)
def test_a_confirmation_whose_answer_is_lost_is_looked_up(switch: Any, system: System) -> None:
    switch.fault("die", system.keep)
    outcome = switch.converge()
    assert (outcome.error, outcome.left, switch.waiting()) == ("", [], False)


def test_drift_after_the_confirmation_is_reported(leaf: Leaf, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Switch._keep

    def confirmed(switch: Switch, name: str, line: str, target: Config) -> None:
        keep(switch, name, line, target)
        leaf.type("interface Ethernet2", "no service-profile ROCE")

    monkeypatch.setattr(Switch, "_keep", confirmed)
    outcome = leaf.converge()
    assert outcome.error.endswith(": interface Ethernet2: service-profile ROCE")
    assert outcome.changed
    assert [step for step in outcome.left if step in outcome.done] == []


def test_a_switch_that_is_cut_off_by_the_change_rolls_back_by_itself(
    leaf: Leaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf.over_ssh, before = True, leaf.lines()
    enable = AristaSSH.enable

    def entered(connection: AristaSSH, *args: Any) -> str:
        connection.read_timeout_override = 1  # it has no answer, however long one waits
        return enable(connection, *args)

    with leaf.switch() as switch:
        switch.read()
        leaf.fault("hang", "^enable", times=None)
        monkeypatch.setattr(AristaSSH, "enable", entered)
        outcome = converge(switch, partial(plan, DIALECT), DIALECT.render(profile()))
    assert "rolls back by itself within 300 s" in outcome.error
    assert list(leaf.sessions().values()) == ["pendingCommitTimer"]
    leaf.pass_time(301)
    leaf.fault("hang", "nothing")
    monkeypatch.setattr(AristaSSH, "enable", enable)
    assert leaf.converge(check=True).steps
    assert (leaf.lines(), leaf.sessions()) == (before, {})


def test_a_session_that_an_earlier_run_left_open_is_aborted(leaf: Leaf) -> None:
    leaf.converge()
    with leaf.state() as state:
        sessions.enter(state, "drawbridge-dead", "vty9", "admin")
        sessions.leave(state, "vty9")
    outcome = leaf.converge()
    expected = ["abort the session drawbridge-dead, which an earlier run left open"]
    assert (outcome.error, outcome.steps, leaf.sessions()) == ("", expected, {})
    assert leaf.converge().steps == []


def test_another_change_waits_until_the_switch_has_rolled_an_unconfirmed_one_back(leaf: Leaf) -> None:
    leaf.leave_unproven()
    want = replace(profile(), mtu_bytes=9100)
    leaf.journal()
    waits = leaf.converge(want=want)
    assert (waits.error, waits.changed, waits.steps) == ("", False, [])
    assert all("when it is rolled back" in sentence for sentence in waits.pending)
    assert reads_only(leaf.journal())
    leaf.pass_time(301)
    predicted = leaf.converge(check=True, want=want)
    done = leaf.converge(want=want)
    assert (done.error, done.steps) == ("", predicted.steps)
    assert leaf.converge(want=want).steps == []
