# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk. Its fault `stale` is another user whose edits wait in the candidate when the line is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli.terminal import CliSwitch
from lab.emulators.fabric.os10 import transaction
from lab.emulators.fabric.os10.cli import Cli
from lab.emulators.fabric.os10.tree import OS10, XGS

if TYPE_CHECKING:
    from lab.emulators.fabric.switch import State

OTHER = ("interface ethernet1/1/4", "description maintenance")
"""What another user's transaction has typed, and not committed."""


class Switch(CliSwitch):
    """One emulated OS10 switch."""

    tool = "os10"
    platforms = (XGS,)
    factory = staticmethod(transaction.factory)
    terminal = Cli
    failed = "% Error: Operation failed."
    edits = ("interface ethernet1/1/1", "mtu 1532", "description maintenance")

    def begin(self, state: State) -> None:
        """Forget terminals, and their lock."""
        state.update(lock="", transactions=[])

    def gone(self, state: State, cli: Any) -> None:
        """Forget a terminal: its lock ends, what it left stays."""
        transaction.leave(state, cli.vty)
        transaction.unlock(state, cli.vty, 0.0)

    def reads_only(self, line: str) -> bool:
        """Say whether a line can't change anything."""
        return super().reads_only(line) or line.strip() in ("configure terminal", "lock", "unlock")

    def leave_waiting(self, state: State, now: float) -> None:
        """Let another user's edits wait in the candidate."""
        del now
        OS10.typed(transaction.edited(state, state["lock"]), state["platform"], [OTHER])

    def expire(self, state: State, now: float) -> str:
        """Do nothing: OS10 has no timer."""
        del state, now
        return ""
