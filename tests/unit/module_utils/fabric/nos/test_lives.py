# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole life of a switch on the oldest and the newest release that the table of releases claims."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.capabilities import (
    capabilities,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS

from tests.unit.emulated_switch import Emulated
from tests.unit.emulated_systems import KINDS
from tests.unit.module_utils.fabric import each_system
from tests.unit.module_utils.fabric.each_system import System, make_dirty

RUN = {
    "eos": {"4.31": "4.31.0F", "4.36": "4.36.1F"},
    "nvue": {"5.9": "5.9.0", "5.16": "5.16.0"},
    # what its updater refuses differs between these
    "sonic": {
        "202405": "202405.1-04a1c8c22",
        "202411": "202411.2-7d1f0c3ab",
        "202505": "202505.1-9b0e6d2f7",
        "202511": "202511.1-5ee1d1f44",
    },
    "nxos": {"9.3": "9.3(13)", "10.5": "10.5(2)"},
    "junos": {"23.4": "23.4R2.13", "25.2": "25.2R1.9"},
    "os10": {"10.5": "10.5.6.1"},
}
"""Releases of the table, each with one that a switch shows."""
DRIFTS = {
    "eos": "interface Ethernet1 ; mtu 9000",
    "nvue": "nv set interface swp1 link mtu 9000",
    "sonic": "PORT|Ethernet0 mtu 9000",
    "nxos": "interface Ethernet1/1 ; mtu 9000",
    "junos": "set interfaces et-0/0/0 mtu 9000",
    "os10": "interface ethernet1/1/1 ; mtu 9000",
}
LIVES = [(system, release) for system in SYSTEMS for release in RUN[system]]


def test_these_are_the_oldest_and_the_newest_of_the_table() -> None:
    claimed = {system: capabilities(system).releases for system in SYSTEMS}
    ends = {system: [*run] for system, run in RUN.items()}
    assert {system: (it.oldest, it.newest) for system, it in claimed.items()} == {
        system: (run[0], run[-1]) for system, run in ends.items()
    }


@pytest.fixture
def switch(system: str, release: str, tmp_path: Path) -> Emulated:
    """A switch of this release in factory state, with a terminal in this process."""
    kinds = [name for name, kind in KINDS.items() if kind.system == system]
    # NX-OS 9.3 has no two-stage commits, so the test looks elsewhere for a change that waits
    fixture = "nexus9" if release == "9.3" else kinds[0]
    kind = type("Aged", (KINDS[fixture],), {"version": RUN[system][release]})
    return kind(tmp_path / "leaf1", tmp_path, lambda _: 0)


def row(system: str, release: str) -> System:
    """The lines of a change on this release."""
    fixture = {("nxos", "9.3"): "nexus9", ("nvue", "5.9"): "cumulus9", ("sonic", "202405"): "sonic24"}
    first = next(it for it in each_system.SYSTEMS if KINDS[it.fixture].system == system)
    return next((it for it in each_system.SYSTEMS if it.fixture == fixture.get((system, release))), first)


def is_right(switch: Emulated) -> None:
    """Check mode has told the run; the run after it changes nothing."""
    predicted = switch.converge(check=True)
    done = switch.converge()
    assert (done.error, done.changed, done.steps, done.left) == ("", True, predicted.steps, [])
    again = switch.converge()
    assert (again.error, again.changed, again.steps) == ("", False, [])


@pytest.mark.parametrize(("system", "release"), LIVES, ids=lambda text: text)
def test_from_the_factory_through_others_hands_drift_and_a_change_that_ends_half_way(
    switch: Emulated, system: str, release: str
) -> None:
    is_right(switch)
    for whose in (("foreign",), ("ours",), ("ours", "foreign") if system != "sonic" else ("ours",)):
        switch.reset()
        make_dirty(switch, *whose)
        is_right(switch)
    switch.type(*DRIFTS[system].split(" ; "))
    is_right(switch)
    switch.reset()
    before = switch.lines()
    switch.fault("die", row(system, release).force)
    assert switch.converge().error
    switch.pass_time(3600)
    assert switch.lines() == before or system == "os10", "no timer takes a change of OS10 back"
    is_right(switch)
