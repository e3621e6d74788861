# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults that every system must stand, in one table; the tests of a system have those that its words tell apart."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.session_io import WHOLE

from tests.unit.emulated_switch import QUICK
from tests.unit.module_utils.fabric.each_system import (
    CUMULUS,
    EACH,
    EOS,
    JUNOS,
    NEXUS,
    NEXUS9,
    OS10,
    PROVE,
    SAVE,
    SONIC,
    SYSTEMS,
    System,
    make_dirty,
)

PLACES = {
    "refuse": ("first", "port", "force"),
    "lie": ("port", "force", "keep"),
    "die": ("port", "force"),
    "hang": ("port", "keep"),
    "reboot": ("port", "force", "keep"),
}
SAYS = {
    "refuse": "leaf1 refused '",
    "lie": "leaf1 reported success, but the change is not in effect",
    "die": "leaf1 dropped the connection at '",
    "hang": "leaf1 gave no answer within ",
    "reboot": "leaf1 ",
}
ELSEWHERE = {
    (NEXUS, "lie", "port"),
    (NEXUS, "die", "force"),
    *((NEXUS, effect, "keep") for effect in PLACES),
    *((OS10, effect, "keep") for effect in PLACES),
}
"""What a Nexus can't roll back at once has tests of its own, and OS10 has no line that confirms."""
MORE = (
    (SONIC, "refuse", "systemd-run"),
    (SONIC, "hang", "systemd-run"),
    (SONIC, "reboot", "systemd-run"),
    (SONIC, "refuse", "pfcwd interval"),
    *((NEXUS9, "refuse", line) for line in ("^feature scheduler", "^checkpoint", "^time start", NEXUS9.keep)),
    (JUNOS, "refuse", JUNOS.keep),
)


def rows() -> Iterator[tuple[System, str, str, str]]:
    for system in SYSTEMS:
        for effect, places in PLACES.items():
            for place in places:
                if (system, effect, place) not in ELSEWHERE:
                    lied = effect == "lie" and place == "keep"
                    yield system, effect, getattr(system, place), "still waits for conf" if lied else SAYS[effect]
    yield from ((*row, SAYS[row[1]]) for row in MORE)


@pytest.mark.parametrize(("system", "effect", "match", "says"), [*rows()], ids=str)
def test_a_change_that_fails_is_rolled_back_and_the_next_run_makes_it(
    switch: Any, system: System, effect: str, match: str, says: str
) -> None:
    make_dirty(switch)
    before = switch.lines()
    switch.fault(effect, match)
    outcome = switch.converge()
    assert says in outcome.error
    if effect in ("refuse", "die", "hang"):
        assert re.search(match.strip("^$"), outcome.error), "the line is named"
    assert outcome.error.endswith("the change was rolled back") or effect == "reboot"
    assert (outcome.changed, outcome.done, outcome.left) == (False, [], outcome.steps)
    assert (switch.lines(), switch.waiting()) == (before, False)
    assert (switch.converge().error, switch.converge().steps) == ("", [])


@pytest.mark.parametrize(
    ("system", "match", "says", "ends"),
    [
        (EOS, EOS.force, "another session maintenance is pending commit timer", "session maintenance abort"),
        (CUMULUS, CUMULUS.force, "is waiting for confirmation", "on the switch with: nv config apply --confirm-no"),
        (JUNOS, JUNOS.first, "<commit-confirmed>rollback pending", ": configure exclusive; rollback 1; commit; exit"),
        (NEXUS, NEXUS.force, "refused 'commit confirmed 300'", "the change was rolled back"),
    ],
    ids=str,
)
def test_another_users_change_that_waits_is_left_alone(
    switch: Any, system: System, match: str, says: str, ends: str
) -> None:
    """NX-OS does not show it before the commit."""
    before = switch.lines()
    switch.fault("stale", match)
    outcome = switch.converge()
    assert says in outcome.error, system
    assert (outcome.changed, outcome.left) == (False, outcome.steps)
    others = [line for line in switch.lines() if line not in before]
    assert (all("maintenance" in line or "ntp" in line for line in others), switch.waiting()) == (True, True)
    assert switch.converge().error.endswith(ends)
    switch.pass_time(3601)
    assert (switch.converge().error, switch.converge().steps) == ("", [])


@pytest.mark.parametrize("effect", ["refuse", "lie"])
@pytest.mark.parametrize("system", [EOS, CUMULUS, SONIC, NEXUS, OS10], ids=str)
def test_a_change_that_is_not_saved_is_a_failure_and_the_next_run_saves_it(
    switch: Any, system: System, effect: str
) -> None:
    if system == CUMULUS:
        switch.type("nv set system config auto-save state disabled")
    switch.fault(effect, system.save)
    outcome = switch.converge()
    assert (bool(outcome.error), outcome.changed, outcome.left[-1]) == (True, True, SAVE)
    again = switch.converge()
    assert (again.error, again.steps) == ("", [*([PROVE] if system == OS10 else []), SAVE])
    assert switch.converge().steps == []


@EACH
def test_a_slow_terminal_delays_a_change_and_ends_in_the_new_state(switch: Any, system: System) -> None:
    for match in (system.port, system.force):
        switch.reset()
        switch.fault("slow", match)
        done = switch.converge()
        assert (done.error, done.changed) == ("", True)
        assert not switch.armed()
        assert switch.converge().steps == []


@EACH
def test_a_dropped_connection_is_noticed_long_before_the_limit_of_an_answer(switch: Any, system: System) -> None:
    with switch.switch() as session:
        session.read()
        line = switch.dialect.reads[0]
        switch.fault("die", f"^{re.escape(line)}({re.escape(WHOLE)})?$")
        begun = time.monotonic()
        with pytest.raises(DeviceError, match=f"^leaf1 dropped the connection at {re.escape(repr(line))}$"):
            session.read()
        assert time.monotonic() - begun < QUICK.answer_s / 2, system


@EACH
def test_another_operators_edit_between_read_and_change_is_reported_and_kept(switch: Any, system: System) -> None:
    """The old thresholds come back, the other's text stays, and the next run repairs the other's MTU."""
    assert not switch.converge().error
    want = replace(switch.profile, roce=replace(switch.profile.roce, ecn_min_bytes=300000))
    switch.fault("edit", system.first)
    outcome = switch.converge(want=want)
    assert "mtu 9214" in outcome.error
    assert "maintenance" in json.dumps(switch.lines())
    switch.pass_time(3601)
    assert {*outcome.steps} <= {*switch.converge(check=True, want=want).steps}, "OS10's way back repairs the MTU too"
    done = switch.converge(want=want)
    assert (done.error, switch.converge(want=want).steps) == ("", [])
    assert "maintenance" in json.dumps(switch.lines()), system
