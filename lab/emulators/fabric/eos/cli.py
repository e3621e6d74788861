# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of EOS: privileged mode, configuration sessions, saving. EOS shows from any mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from lab.emulators.fabric.cli import terminal
from lab.emulators.fabric.cli.tree import header
from lab.emulators.fabric.eos import sessions, shows, tree
from lab.emulators.fabric.eos.ports import COUNTERS, PORTS, QOS
from lab.emulators.fabric.eos.tree import GRAMMAR, prompt_part
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State

NO_PORT = "! Interface does not exist. The configuration will not take effect until the module is inserted."
UNCONVERTED = '% This is an unconverted command\n{\n    "errors": [\n        "This is an unconverted command"\n    ]\n}'


class Cli(terminal.Cli):
    """The command line as one user sees it."""

    language = tree.EOS
    shows: ClassVar = {**shows.GENERAL, **PORTS, **QOS, **COUNTERS}
    closed = ("configure", "no configure", "copy", "write", "show running", "show startup", "show session-")
    not_privileged = f"{GRAMMAR.invalid} (privileged mode required)"
    unconverted = UNCONVERTED
    saved = "Copy completed successfully."
    link = staticmethod(sessions.link)
    rows = 24

    def place(self) -> str:
        """Return the modes; a session shows with the first six characters of its name."""
        parts = ["config"] + ([f"s-{self.session[:6]}"] if self.session else [])
        return "-".join([*parts, *(prompt_part(header(key)) for key, _ in self.path)])

    def candidate(self, state: State) -> Node:
        """Return the session's configuration, unless another user has ended the session."""
        found = state["candidates"].get(self.session)
        if not found or found["state"] != "pending":
            raise Refused(f"% Session {self.session} not found")
        return found["tree"]

    def applied(self, state: State, target: Node, text: str, opened: str) -> str:
        """Warn of a port that doesn't exist, and of a watchdog that polls too seldom."""
        port = header(self.path[-1][0]).removeprefix("interface ") if self.path else ""
        if opened == "if" and text.startswith("int") and port.startswith("Ethernet") and port not in state["ports"]:
            return NO_PORT
        return tree.warning(target) if "watchdog default" in text else ""

    def left(self, state: State) -> None:
        """Leave the session pending."""
        sessions.leave(state, self.vty)

    def terminal(self, state: State, found: Match, now: float) -> str:
        """Set the terminal up; EOS says what it did."""
        super().terminal(state, found, now)
        if "columns" in found.args:
            return f"Width set to {found.args['columns']} columns."
        return "Pagination disabled." if found.args.get("rows") == "0" else ""

    def _enter(self, state: State, found: Match, now: float) -> str:
        name = found.args.get("name") or f"sess-{int(now)}-{self.vty.removeprefix('vty')}"
        sessions.enter(state, name, self.vty, self.user)
        self.configure(name)
        return ""

    def _commit(self, state: State, found: Match, now: float) -> str:
        hours, minutes, seconds = (int(part) for part in found.args.get("time", "0:0:0").split(":"))
        timer = hours * 3600 + minutes * 60 + seconds
        sessions.commit(state, found.args.get("name") or self.session, self.user, now, timer)
        self.to_exec()
        return ""

    def _abort(self, state: State, found: Match, now: float) -> str:
        sessions.abort(state, found.args.get("name") or self.session, now)
        self.to_exec()
        return ""


Cli.commands = {
    "enable": Cli.enable,
    "disable": Cli.enable,
    "exit": Cli.exit,
    "logout": Cli.exit,
    "quit": Cli.exit,
    "terminal length <rows:int:0-32767>": Cli.terminal,
    "terminal width <columns:int:10-32767>": Cli.terminal,
    "terminal monitor": Cli.terminal,
    "no terminal monitor": Cli.terminal,
    "configure [terminal]": Cli.configure_terminal,
    "configure session [<name:word>]": Cli._enter,
    "configure session <name:word> commit [timer <time:hms>]": Cli._commit,
    "configure session <name:word> abort": Cli._abort,
    "no configure session <name:word>": Cli._abort,
    "write [memory]": Cli.save,
    "copy running-config startup-config": Cli.save,
}
Cli.in_config = {"end": Cli.exit}
Cli.in_session = {
    "commit [timer <time:hms>]": Cli._commit,
    "abort": Cli._abort,
}
