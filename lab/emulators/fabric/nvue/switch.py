# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk: every line that users type goes through here, is journalled, and may meet a fault.

Faults are those of every emulated device, with tool `nvue`, and two that only a terminal can have:

    slow     the echo crawls
    stale    another user has a revision waiting for confirmation when the line is typed
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from lab.emulators import common
from lab.emulators.fabric.nvue import revisions, tree
from lab.emulators.fabric.nvue.cli import Cli
from lab.emulators.fabric.nvue.schema import Refused
from lab.emulators.fabric.server import STALE, TERMINAL_EFFECTS

if TYPE_CHECKING:
    from lab.emulators.fabric.nvue.revisions import State

TOOL = "nvue"
OTHER_USER = "noc"
FAILED = "Error: the request failed; see /var/log/nvued.log"


class Switch:
    """One emulated switch: its device directory and what it is made of when it is new."""

    def __init__(self, device: common.Device, new: State) -> None:
        """Take up the device's state."""
        self.device = device
        self._new = new
        with device.state(new) as state:
            state.setdefault("booted", device.now())

    def cable(self, neighbors: dict[str, list[str]]) -> None:
        """Plug cables in: port -> [device, port] at the other end."""
        with self.device.state(self._new) as state:
            state["neighbors"] = neighbors

    def users(self) -> set[str]:
        """Return who may log in."""
        with self.device.state(self._new) as state:
            return set(state["applied"]["system"]["aaa"]["user"])

    def cli(self, user: str, vty: str, *, once: bool) -> Cli:
        """Begin a user's shell; one command without a terminal is run in the same way."""
        del once
        return Cli(user, vty)

    def fault(self, line: str) -> str | None:
        """Return the effect of the fault that a line meets, if any; used up by asking."""
        effects = (common.HANG, common.DIE, common.REFUSE, STALE, *TERMINAL_EFFECTS)
        among = effects if _is_read(line) else (*effects, common.LIE, common.DRIFT)
        return self.device.fault(TOOL, line, among) if line.strip() else None

    def prompt(self, cli: Cli) -> str:
        """Return the prompt as it stands now."""
        with self.device.state(self._new) as state:
            return cli.prompt(state)

    def execute(self, cli: Cli, line: str, effect: str | None = None) -> str:
        """Do what a line asks, or what its fault makes of it; return what the terminal shows."""
        self.tick()
        refused = False
        with self.device.state(self._new) as state:
            now = self.device.now()
            if effect == STALE and not state["confirm"]:
                _leave_waiting(state, now)
            before = copy.deepcopy(state)
            work = copy.deepcopy(state) if effect == common.LIE else state
            try:
                shown = FAILED if effect == common.REFUSE else cli.run(work, line, now)
                refused = effect == common.REFUSE
            except Refused as refusal:
                shown, refused = str(refusal), True
            if effect == common.DRIFT:
                _drift(before, state)
            changes = {
                "writes": any(before[key] != state[key] for key in ("applied", "startup", "confirm")),
                "stages": before["pending"] != state["pending"],
            }
        if line.strip():
            where = {"user": cli.user, "vty": cli.vty}
            self.device.journal(tool=TOOL, argv=line.split(), line=line, rc=int(refused), **where, **changes)
        return shown

    def tick(self) -> None:
        """Roll a timed apply back when its time is over, also when no user is logged in."""
        with self.device.state(self._new) as state:
            gone = revisions.expire(state, self.device.now())
        if gone:
            self.device.journal(tool=TOOL, argv=[], event="confirmation timed out", revision=gone, writes=True)

    def logged_in(self, cli: Cli, peer: str) -> None:
        """Note a connection."""
        self.device.journal(tool=TOOL, argv=[], event="connect", user=cli.user, vty=cli.vty, peer=peer, writes=False)

    def logged_out(self, cli: Cli) -> None:
        """Note its end; pending edits stay with their user."""
        self.device.journal(tool=TOOL, argv=[], event="disconnect", user=cli.user, vty=cli.vty, writes=False)

    def log_line(self, cli: Cli) -> str:
        """Return nothing: a shell shows no log."""
        del cli
        return ""


def _is_read(line: str) -> bool:
    words = line.split()
    return words[:2] == ["nv", "show"] or words[:3] in (["nv", "config", "show"], ["nv", "config", "revision"])


def _leave_waiting(state: State, now: float) -> None:
    """Another user applied a change with a timer and has not confirmed it."""
    revisions.edit(state, OTHER_USER, "set", ["interface", "swp1", "description", "maintenance"])
    revisions.apply(state, OTHER_USER, now, 3600, "")


def _drift(before: State, after: State) -> None:
    """Another user puts the last value that changed back to what it was."""
    old = dict(tree.leaves(before["applied"]))
    changed = [path for path, value in tree.leaves(after["applied"]) if old.get(path) != value]
    if changed:
        tree.unset(after["applied"], [*max(changed)])
