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
    from lab.emulators import common
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

    def __init__(self, device: common.Device, new: State) -> None:
        """Take up the device's state; terminals of an earlier process are gone, with their lock."""
        super().__init__(device, new)
        with device.state(new) as state:
            state.update(lock="", transactions=[])

    def logged_out(self, cli: Any) -> None:
        """Note the end of a connection, and of its lock."""
        with self.device.state(self.new) as state:
            transaction.gone(state, cli.vty)
        super().logged_out(cli)

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
