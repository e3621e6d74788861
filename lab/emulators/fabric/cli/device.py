# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk: who may log in, and what its faults do to a configuration of lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli import candidate, tree
from lab.emulators.fabric.cli.shows import host
from lab.emulators.fabric.switch import EmulatedSwitch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.emulators.fabric.cli.terminal import Cli
    from lab.emulators.fabric.switch import State

READS = ("show", "sh", "terminal", "enable", "en", "disable", "end", "exit")


class CliSwitch(EmulatedSwitch):
    """One emulated switch whose configuration is lines. A system says which Cli it has, and what it refuses."""

    terminal: type[Cli]
    log = "%SYS-5-CONFIG_I: Configured from console by {user} on {vty}"
    """A message that bursts in."""
    edits: tuple[str, ...] = ()
    """Lines that another operator types in configuration mode."""
    in_force = ("running", "startup", "pending")
    staged = ("candidates",)

    def known(self, state: State) -> Iterable[str]:
        """Return who may log in."""
        return (text.split()[0] for text in tree.values(state["running"], "username "))

    def cli(self, user: str, vty: str, *, once: bool) -> Cli:
        """Begin a user's command line; a command without a terminal is privileged and isn't paged."""
        cli = super().cli(user, vty, once=once)
        if once:
            cli.privileged, cli.rows = True, 0
        return cli

    def where(self, cli: Any) -> dict[str, str]:
        """Return who types, and where, for the journal."""
        return {**super().where(cli), "mode": cli.mode, "session": cli.session}

    def reads_only(self, line: str) -> bool:
        """Say whether a line can't change anything."""
        text = line.strip().lower()
        return text.split(" ")[0] in READS or text in READS or text == "configure terminal"

    def drift(self, before: State, after: State) -> None:
        """Let another user put the last line that changed back to what it was."""
        tree.undo_last(before["running"], after["running"])

    def expire(self, state: State, now: float) -> str:
        """Roll a change back whose time is over."""
        return candidate.go_back(state, now, self.terminal("", "").link) if candidate.expired(state, now) else ""

    def restart(self, state: State, now: float) -> None:
        """Come up with what was saved."""
        candidate.restart(state, now, self.terminal("", "").link)

    def edit(self, state: State, now: float) -> None:
        """Type the other operator's lines."""
        cli = self.terminal("noc", "vty98")
        cli.privileged = True
        cli.configure()
        for line in self.edits:
            cli.run(state, line, now)

    def log_line(self, cli: Any) -> str:
        """Return a log message as it reaches a terminal that monitors."""
        with self.device.state(self.new) as state:
            stamp = time.strftime("%b %d %H:%M:%S", time.gmtime(self.device.now()))
            return f"{stamp} {host(state)} {self.log.format(user=cli.user, vty=cli.vty)}"
