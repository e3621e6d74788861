# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults that every system must stand, in one table; the tests of a system have those that its words tell apart."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

from tests.unit.emulated_switch import QUICK, profile


@dataclass(frozen=True)
class System:
    """Where a fault strikes, and where the emulator keeps what runs."""

    fixture: str
    first: str
    """The first line of a change, after which no other operator can come in between."""
    port: str
    """A line that gives a port its MTU."""
    force: str
    """The line that puts the change in force."""
    runs: str = "running"


SYSTEMS = (
    System("leaf", "^configure session", "^ *mtu 9214", "commit timer"),
    System("cumulus", "^nv config detach", "link mtu 9214", "^nv config apply", runs="applied"),
    System("sonic", "^mkdir", "apply-patch .*/2.json", "pfcwd start"),
    System("nexus", "^configure dual-stage", "^mtu 9214", "^commit confirmed"),
    System("nexus9", "^configure terminal", "^mtu 9214", "^service-policy type network-qos"),
    System("junos", "^configure exclusive", "mtu 9214", "^commit confirmed", runs="active"),
    System("os10", "^lock", "^mtu 9214", "^commit"),
)
EACH = pytest.mark.parametrize("system", SYSTEMS, ids=[it.fixture for it in SYSTEMS])


@pytest.fixture
def switch(system: System, running_switch: Callable[[str], Any]) -> Any:
    """The switch as it left the factory."""
    found = running_switch(system.fixture)
    found.reset()
    return found


def runs(switch: Any, system: System) -> str:
    with switch.device.state() as state:
        return json.dumps(state[system.runs])


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
        line = session._dialect.reads[0]
        switch.fault("die", f"^{re.escape(line)}$")
        begun = time.monotonic()
        with pytest.raises(DeviceError, match=f"^leaf1 dropped the connection at {re.escape(repr(line))}$"):
            session.read()
        assert time.monotonic() - begun < QUICK.answer_s / 2


@EACH
def test_another_operators_edit_between_read_and_change_is_reported_and_kept(switch: Any, system: System) -> None:
    """The old thresholds come back, the other's text stays, and the next run repairs the other's MTU."""
    assert not switch.converge().error
    own = getattr(switch, "profile", None) or profile()
    want = replace(own, roce=replace(own.roce, ecn_min_bytes=300000))
    switch.fault("edit", system.first)
    outcome = switch.converge(want=want)
    assert "mtu 9214" in outcome.error
    assert "maintenance" in runs(switch, system)
    (switch.keys / "clock").write_text("3601")
    assert {*outcome.steps} <= {*switch.converge(check=True, want=want).steps}, "OS10's way back repairs the MTU too"
    done = switch.converge(want=want)
    assert (done.error, switch.converge(want=want).steps) == ("", [])
    assert "maintenance" in runs(switch, system)
