# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk: its faults, in the words of NX-OS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli.terminal import CliSwitch
from lab.emulators.fabric.nxos import stages
from lab.emulators.fabric.nxos.cli import Cli
from lab.emulators.fabric.nxos.lines import CLOUDSCALE, GRAMMAR

if TYPE_CHECKING:
    from lab.emulators.fabric.switch import State

OTHER_VTY, OTHER_USER = "vty99", "noc"


class Switch(CliSwitch):
    """One emulated switch: its device directory and what it is made of when it is new."""

    tool = "nxos"
    platforms = (CLOUDSCALE,)
    factory = staticmethod(stages.factory)
    terminal = Cli
    edits = ("interface Ethernet1/1", "mtu 1500", "description maintenance")
    expired, expires = "confirm commit timer expired", "session"
    staged = ("candidates", "checkpoints")

    def begin(self, state: State) -> None:
        """Drop target configurations, which are gone with their terminals."""
        state["candidates"] = {}

    def refusal(self, line: str) -> str:
        """Return the text with which NX-OS would turn such a line down."""
        if line.startswith("commit"):
            return "Failed. err=resource not available\ncommit verification failed"
        return "ERROR: not enough space" if line.startswith("copy") else GRAMMAR.invalid

    def expire(self, state: State, now: float) -> str:
        """Roll a change back whose time is over, and run jobs whose time has come."""
        return super().expire(state, now) or stages.run_due(state, now)

    def leave_waiting(self, state: State, now: float) -> None:
        """Let another user have committed for a time, and not have confirmed."""
        if not state["pending"]:
            stages.enter(state, OTHER_VTY)
            stages.cache(state, OTHER_VTY, [], "config", "ntp server 192.0.2.1")
            stages.commit(state, OTHER_VTY, OTHER_USER, now, 3600)
            del state["candidates"][OTHER_VTY]

    def gone(self, state: State, cli: Any) -> None:
        """Drop a terminal's target configuration."""
        cli.left(state)
