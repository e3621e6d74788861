# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of NX-OS: one-stage and two-stage configuration, several commands on a line, saving."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from lab.emulators.fabric.cli import terminal
from lab.emulators.fabric.nxos import shows, stages
from lab.emulators.fabric.nxos.language import NXOS
from lab.emulators.fabric.nxos.lines import GRAMMAR, ROLL_BACK
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State

SAVED = f"[{'#' * 40}] 100%\nCopy complete, now saving to disk (please wait)...\nCopy complete."


class Cli(terminal.Cli):
    """The command line as one user sees it; network-admin is privileged from the start."""

    language = NXOS
    shows: ClassVar = shows.SHOWS
    unconverted = "% Structured output unsupported"
    help = "Enter configuration commands, one per line. End with CNTL/Z."
    saved = SAVED
    link = staticmethod(stages.link)
    privileged = True
    rows = 24

    def place(self) -> str:
        """Return the modes."""
        return "-".join(["config", *(["dual-stage"] if self.session else []), *(mode for _, mode in self.path[-1:])])

    def run(self, state: State, line: str, now: float) -> str:
        """Run the commands of a line one after the other."""
        shown = [super(Cli, self).run(state, part, now) for part in line.split(" ; ")]
        return "\n".join(filter(None, shown))

    def typed(self, state: State, path: list[str], mode: str, text: str, now: float) -> tuple[Node, list[str], str]:
        """Cache a line of a target configuration; others are in force at once."""
        if self.session:
            return stages.cache(state, self.vty, path, mode, text)
        return super().typed(state, path, mode, stages.timed(text, now), now)

    def left(self, state: State) -> None:
        """Drop the target configuration."""
        state["candidates"].pop(self.vty, None)

    def _dual_stage(self, state: State, _found: Match, _now: float) -> str:
        if int(shows.version(state).split(".")[0]) < stages.FIRST_RELEASE:
            raise Refused(GRAMMAR.invalid)
        stages.enter(state, self.vty)
        self.configure("dual-stage")
        return self.help

    def _commit(self, state: State, found: Match, now: float) -> str:
        shown = stages.commit(state, self.vty, self.user, now, int(found.args.get("seconds", 0)))
        self.path = []
        return shown

    def _abort(self, state: State, _found: Match, _now: float) -> str:
        self.left(state)
        self.to_exec()
        return ""

    def _checkpoint(self, state: State, found: Match, _now: float) -> str:
        act = stages.drop if found.text.startswith("no ") else stages.keep
        return act(state, found.args["name"])

    def _roll_back(self, state: State, found: Match, now: float) -> str:
        return stages.roll_back(state, found.args["name"], now)


Cli.commands = {
    "exit": Cli.exit,
    "terminal length <rows:int:0-511>": Cli.terminal,
    "terminal width <columns:int:24-511>": Cli.terminal,
    "terminal monitor": Cli.terminal,
    "no terminal monitor": Cli.terminal,
    "configure [terminal]": Cli.configure_terminal,
    "configure dual-stage": Cli._dual_stage,
    "copy running-config startup-config": Cli.save,
    "checkpoint <name:word>": Cli._checkpoint,
    "no checkpoint <name:word>": Cli._checkpoint,
    ROLL_BACK: Cli._roll_back,
}
Cli.in_config = {"end": Cli.exit}
Cli.in_session = {"commit [confirmed <seconds:int:30-65535>]": Cli._commit, "abort": Cli._abort}
