# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk: every line that users type goes through here, is journalled, and may meet a fault."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric import data_model
from lab.emulators.fabric.nvue import revisions, tree
from lab.emulators.fabric.nvue.cli import Cli, forwarding
from lab.emulators.fabric.switch import EmulatedSwitch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.emulators.fabric.nvue.revisions import State

OTHER_USER = "noc"


class Switch(EmulatedSwitch):
    """One emulated Cumulus Linux switch."""

    tool = "nvue"
    platforms = ("spectrum",)
    factory = staticmethod(revisions.factory)
    terminal = Cli
    failed = "Error: the request failed; see /var/log/nvued.log"
    in_force = ("applied", "startup", "confirm")
    staged = ("pending",)

    def forwarding(self, state: State) -> dict[str, Any]:
        """Return what packets meet here."""
        return forwarding(state)

    def known(self, state: State) -> Iterable[str]:
        """Return who may log in."""
        return state["applied"]["system"]["aaa"]["user"]

    def reads_only(self, line: str) -> bool:
        """Say whether a line can't change anything."""
        words = line.split()
        if words[:1] == ["cat"]:
            return True
        return words[:2] == ["nv", "show"] or words[:3] in (["nv", "config", "show"], ["nv", "config", "revision"])

    def leave_waiting(self, state: State, now: float) -> None:
        """Let another user apply a change with a timer and not confirm it."""
        if not state["confirm"]:
            revisions.edit(state, OTHER_USER, "set", ["interface", "swp1", "description", "maintenance"])
            revisions.apply(state, OTHER_USER, now, 3600, "")

    def drift(self, before: State, after: State) -> None:
        """Let another user put the last value that changed back to what it was."""
        if paths := data_model.changed(before["applied"], after["applied"]):
            tree.unset(after["applied"], [*max(paths)])

    def expire(self, state: State, now: float) -> str:
        """Roll a timed apply back when its time is over."""
        return revisions.expire(state, now)

    def restart(self, state: State, now: float) -> None:
        """Come up with the saved configuration. Pending edits of users are on disk, and stay."""
        if state["confirm"]:
            revisions.refuse(state, "", now)
        revisions.replace(state, copy.deepcopy(state["startup"]), now)

    def edit(self, state: State, now: float) -> None:
        """Apply the other operator's edits; NVUE saves them by itself."""
        for path in (["link", "mtu", "1500"], ["description", "maintenance"]):
            revisions.edit(state, OTHER_USER, "set", ["interface", "swp1", *path])
        revisions.apply(state, OTHER_USER, now, 0, "")
