# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk: every line that users type goes through here, is journalled, and may meet a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.emulators.fabric.junos import commits, statements
from lab.emulators.fabric.junos.checks import FAILED
from lab.emulators.fabric.junos.cli import Cli
from lab.emulators.fabric.switch import EmulatedSwitch, Shell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.emulators.fabric.junos.commits import State

OTHER_USER, OTHER_VTY = "noc", "vty99"
READS = ("show ", "run show ", "set cli ", "exit", "quit")


class Switch(EmulatedSwitch):
    """One emulated QFX switch."""

    tool = "junos"
    platforms = ("tomahawk3", "tomahawk", "tomahawk2", "tomahawk4", "tomahawk5", "trident3", "trident4", "other")
    factory = staticmethod(commits.factory)
    terminal = Cli
    failed = FAILED
    in_force = ("active", "history", "pending")
    staged = ("candidate", "lock")

    def begin(self, state: State) -> None:
        """Forget terminals, and their lock with them."""
        commits.leave(state, state["lock"])
        state["history"][-1]["time"] = state["history"][-1]["time"] or state["booted"]

    def known(self, state: State) -> Iterable[str]:
        """Return who may log in."""
        return (it.split()[3] for it in state["active"] if it.startswith("system login user "))

    def reads_only(self, line: str) -> bool:
        """Say whether a line can't change anything."""
        return f"{line.strip()} ".startswith(READS)

    def gone(self, state: State, cli: Shell) -> None:
        """Forget a terminal; an exclusive candidate ends with it."""
        commits.leave(state, cli.vty)

    def leave_waiting(self, state: State, now: float) -> None:
        """Let another user have a confirmed commit in force, unless the candidate is locked or edited."""
        if not state["pending"] and not state["lock"] and state["candidate"] is None:
            config = commits.candidate(state)
            statements.set_(config, ["interfaces", "et-0/0/0", "description", "maintenance"])
            commits.stage(state, OTHER_USER, config)
            commits.commit(state, OTHER_USER, OTHER_VTY, now, 60, "maintenance")

    def edit(self, state: State, now: float) -> None:
        """Commit the other operator's edits, unless the candidate is locked or edited."""
        if not state["lock"] and state["candidate"] is None:
            config = commits.candidate(state)
            statements.set_(config, ["interfaces", "et-0/0/0", "mtu", "1514"])
            statements.set_(config, ["interfaces", "et-0/0/0", "description", "maintenance"])
            commits.stage(state, OTHER_USER, config)
            commits.commit(state, OTHER_USER, OTHER_VTY, now, 0, "")

    def drift(self, before: State, after: State) -> None:
        """Let another user take the last statement away that was committed."""
        if new := [it for it in after["active"] if it not in before["active"]]:
            statements.delete(after["active"], max(new).split())

    def restart(self, state: State, now: float) -> None:
        """Come up again; what waits for its confirmation is rolled back."""
        commits.restart(state, now)

    def expire(self, state: State, now: float) -> str:
        """Roll a confirmed commit back when its time is over."""
        return commits.expire(state, now)
