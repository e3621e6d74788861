# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of OS10: a login is privileged, configuration modes reach exec commands through `do` only."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from lab.emulators.fabric.cli import terminal
from lab.emulators.fabric.cli.tree import header, natural
from lab.emulators.fabric.os10 import transaction
from lab.emulators.fabric.os10.shows import SHOWS
from lab.emulators.fabric.os10.tree import OS10, prompt_part
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State


class Cli(terminal.Cli):
    """The command line as one user sees it."""

    language = OS10
    shows: ClassVar = SHOWS
    saved = "Copy completed"
    link = staticmethod(transaction.link)
    privileged = True

    def __init__(self, user: str, vty: str) -> None:
        """Begin in exec mode, with no range of ports chosen."""
        super().__init__(user, vty)
        self._now = 0.0
        self._others: list[str] = []

    def place(self) -> str:
        """Return the innermost mode, the only one that the prompt shows."""
        if not self.path:
            return "config"
        key, mode = self.path[-1]
        one = prompt_part(mode, header(key))
        last = header(self._others[-1]).removeprefix("interface ethernet") if self._others else ""
        return f"{one.replace('conf-if-', 'conf-range-')}-{last}" if last else one

    def candidate(self, state: State) -> Node:
        """Return the configuration that all users edit, unless one of them has locked it."""
        return transaction.edited(state, self.vty)

    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks."""
        self._now = now
        done, _, text = line.strip().partition(" ")
        try:
            if self.configuring and done == "do":
                return super()._exec(state, text, now)
            return super().run(state, line, now)
        finally:
            transaction.settle(state)

    def applied(self, state: State, target: Node, text: str, opened: str) -> str:
        """Type the line for the other ports of a range too; put it in force unless a transaction waits for commit."""
        del opened
        if not self.path or self.path[0][1] != "if" or text.lower().startswith("int"):
            self._others = []
        for key in self._others:
            self.language.apply(target, [key], "if", state["platform"], text)
        if self.vty not in state["transactions"]:
            transaction.commit(state, self.vty, self._now)
        return ""

    def _exec(self, state: State, text: str, now: float) -> str:
        if not self.configuring:
            return super()._exec(state, text, now)
        found = self.language.grammar.match(self.in_config, text)
        return self.in_config[found.pattern](self, state, found, now)

    def _range(self, state: State, found: Match, _now: float) -> str:
        first, _, last = found.args["ports"].partition("-")
        kind = first.rstrip("0123456789/:")
        ends = [natural(f"interface {name}") for name in (first, f"{kind}{last or first.removeprefix(kind)}")]
        blocks = sorted(self.candidate(state)["blocks"], key=natural)
        keys = [key for key in blocks if kind == "ethernet" and ends[0] <= natural(header(key)) <= ends[1]]
        if not keys:
            raise Refused("% Error: Interface does not exist.")
        self.path, self._others = [(keys[0], "if")], keys[1:]
        return ""

    def configure_terminal(self, _state: State, _found: Match, _now: float) -> str:
        """Enter the candidate: OS10 has no other way."""
        self.configure(transaction.CANDIDATE)
        return ""

    def _transact(self, state: State, found: Match, now: float) -> str:
        ACTS[found.pattern](state, self.vty, now)
        return ""


ACTS = {
    "start transaction": transaction.start,
    "commit": transaction.commit,
    "discard": transaction.discard,
    "lock": transaction.lock,
    "unlock": transaction.unlock,
}
Cli.commands = {
    "exit": Cli.exit,
    "logout": Cli.exit,
    "terminal length <rows:int:0-512>": Cli.terminal,
    "terminal monitor": Cli.terminal,
    "configure [terminal]": Cli.configure_terminal,
    **dict.fromkeys(ACTS, Cli._transact),
    "write memory": Cli.save,
    "copy running-configuration startup-configuration": Cli.save,
}
Cli.in_config = {"exit": Cli.exit, "end": Cli.exit, "interface range <ports:word>": Cli._range}
