# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lines that we type, taken by an independent reading of each system: the lab's emulators, which never saw them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import (
    Storage,
    SwitchProfile,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import dialect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    CANDIDATE,
    Config,
    plan,
    way_back,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.emulated_switch import Emulated, Leaf, emulator, profile
from tests.unit.emulated_systems import KINDS, Cumulus, Junos, Nexus, PowerSwitch
from tests.unit.module_utils.fabric.each_system import STATES, soil

STORAGE = Storage(priority=4, dscp=34, bandwidth_percent=30)
CLASSES = (None, STORAGE, replace(STORAGE, lossless=True))


class Console:
    """A switch from the factory in this process, and those who type there."""

    def __init__(self, kind: type[Emulated], rows: list[str], version: str) -> None:
        self.kind, self.dialect = kind, dialect(kind.system)
        new = {**kind.factory(), **({"version": version} if kind is Cumulus else {})}
        self.state = soil(kind, new, rows)

    def type(self, lines: tuple[str, ...]) -> list[str]:
        """Type lines as Drawbridge, and return the answers; all must be taken."""
        cli: Any = emulator(self.kind.system).terminal("admin", "vty1")
        cli.privileged, cli.rows = True, 0  # as netmiko sets a terminal up
        return [cli.run(self.state, line, 0.0) for line in lines]

    def read(self, want: SwitchProfile) -> Config:
        """What runs, as the dialect reads it."""
        release = self.dialect.releases.read(*self.type((self.dialect.releases.line,)))
        return self.dialect.parse(self.type((*self.dialect.reads, *self.dialect.more_reads(want, release))), want)

    def change(self, lines: tuple[str, ...], have: Config) -> None:
        """Put lines in force."""
        self.type(self.dialect.strategy(have.own).change("drawbridge-00c0ffee", 300, lines, have.own))

    def lines(self) -> list[str]:
        """What runs."""
        return self.kind.lines_of(self.state[self.kind.running])


@pytest.mark.parametrize("kind", [Leaf, Cumulus, Nexus, Junos, PowerSwitch])
@settings(max_examples=40)
@given(data=st.data())
def test_one_change_gives_any_switch_the_profile_and_keeps_foreign_configuration(
    kind: type[Emulated], data: st.DataObject
) -> None:
    ours, foreign = (
        data.draw(st.lists(st.sampled_from(STATES[kind.system][whose]), max_size=10)) for whose in ("ours", "foreign")
    )
    version = data.draw(st.sampled_from(("5.11.0", "5.16.0")))
    storage = data.draw(st.sampled_from(CLASSES[:2] if kind is Cumulus else CLASSES))
    want = replace(profile(kind.system), storage=storage)
    switch = Console(kind, [*foreign, *ours], version)
    before, have = switch.lines(), switch.read(want)
    steps = plan(switch.dialect, have, switch.dialect.render(want))
    lines = tuple(line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines)
    switch.change(lines, have)
    assert switch.read(want).sections == switch.dialect.render(want).sections
    others = {*Console(kind, foreign, version).lines()} - {*Console(kind, [], version).lines()}
    assert others <= {*switch.lines()}
    if switch.dialect.strategy(have.own).earlier(have.own):
        switch.change(way_back(switch.dialect, switch.read(want), have), have)
        assert switch.lines() == before, "without a timer, the way back is typed"


@pytest.mark.parametrize("system", STATES)
def test_every_row_is_one_that_the_system_takes(system: str) -> None:
    kind = next(it for it in KINDS.values() if it.system == system)
    for row in (*STATES[system]["ours"], *STATES[system]["foreign"]):
        kind.configure(kind.factory(), tuple(row.format(off="enable off").split(" ; ")), 0.0)
