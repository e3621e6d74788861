# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk: its faults, in EOS's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli.terminal import CliSwitch
from lab.emulators.fabric.eos import ports, sessions
from lab.emulators.fabric.eos.cli import Cli
from lab.emulators.fabric.eos.tree import GRAMMAR, JERICHO, XGS

if TYPE_CHECKING:
    from lab.emulators.fabric.switch import State

OTHER_USER = "noc"
UNAVAILABLE = "% Unavailable command (not supported on this hardware platform)"
NO_SPACE = "% Error copying system:/running-config to flash:/startup-config (No space left on device)"
NO_COMMIT = "% Cannot commit session"


class Switch(CliSwitch):
    """One emulated switch: its device directory and what it is made of when it is new."""

    tool = "eos"
    platforms = (XGS, JERICHO)
    factory = staticmethod(sessions.factory)
    terminal = Cli
    log = "ConfigAgent: %SYS-5-CONFIG_I: Configured from console by {user} on {vty}"
    expired, expires = "commit timer expired", "session"
    edits = ("interface Ethernet1", "mtu 1500", "description maintenance")

    def forwarding(self, state: State) -> dict[str, Any]:
        """Return what packets meet here."""
        return ports.forwarding(state)

    def begin(self, state: State) -> None:
        """Forget terminals; what they left is not gone."""
        for session in state["candidates"].values():
            session["instances"] = {}

    def refusal(self, line: str) -> str:
        """Return the text with which EOS would turn such a line down."""
        if "commit" in line:
            return NO_COMMIT
        if line.startswith(("write", "copy")):
            return NO_SPACE
        return GRAMMAR.invalid if self.reads_only(line) else UNAVAILABLE

    def leave_waiting(self, state: State, now: float) -> None:
        """Let another user have committed with a timer, and not have confirmed."""
        name = "maintenance"
        if state["pending"] is None and name not in state["candidates"]:
            sessions.enter(state, name, "vty99", OTHER_USER)
            sessions.commit(state, name, OTHER_USER, now, timer=3600)

    def expire(self, state: State, now: float) -> str:
        """Roll a timed commit back when its time is over; its session goes too."""
        gone = super().expire(state, now)
        state["candidates"].pop(gone, None)
        return gone

    def gone(self, state: State, cli: Any) -> None:
        """Forget a terminal; sessions that it had open stay pending."""
        sessions.leave(state, cli.vty)
