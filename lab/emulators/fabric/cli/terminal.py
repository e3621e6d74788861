# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One logged-in user: which mode the terminal is in, what a typed line means there, which prompt comes back.

A line is tried in the mode itself, then as an exec command, then in the modes above. The switch on disk says who may
log in, and what its faults do to a configuration of lines.
"""

from __future__ import annotations

import copy
import re
import time
from typing import TYPE_CHECKING, Any, ClassVar

from lab.emulators.fabric.cli import candidate, shows, tree
from lab.emulators.fabric.cli.language import Language
from lab.emulators.fabric.cli.shows import host
from lab.emulators.fabric.switch import EmulatedSwitch, Refused, Shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State

    Handler = Callable[[Any, State, Match, float], str]
    Show = Callable[[shows.Question], shows.Answer]

MORE = "--More--"


class Cli(Shell):
    """The command line as one user sees it; the switch itself is the state that every call is given."""

    language = Language()
    commands: ClassVar[Mapping[str, Handler]] = {}
    in_config: ClassVar[Mapping[str, Handler]] = {}
    """Commands that only configuration modes have."""
    in_session: ClassVar[Mapping[str, Handler]] = {}
    """Commands that only candidates have."""
    shows: ClassVar[Mapping[str, Show]] = {}
    closed: tuple[str, ...] = ()
    """Beginnings of lines that a user may not type before `enable`."""
    link: Callable[[Node, str], Any]
    """(configuration, port) -> what takes the port's link down for a moment when it changes."""
    help = ""
    """What `configure terminal` prints, and what saving prints."""
    saved = ""
    not_privileged = ""
    unconverted = ""
    """What `| json` prints for a command without JSON."""
    privileged = False
    rows = 0
    """Lines of the terminal after which output waits for a key, which is a line here; 0: it never waits."""

    monitor = True
    configuring = False
    session = ""

    def __init__(self, user: str, vty: str) -> None:
        """Begin logged in, outside of configuration modes."""
        super().__init__(user, vty)
        self.path: list[tuple[str, str]] = []
        self.rest: list[str] = []

    @property
    def mode(self) -> str:
        """Return the innermost mode: exec, enable, config, or what a block opened."""
        if not self.configuring:
            return "enable" if self.privileged else "exec"
        return self.path[-1][1] if self.path else "config"

    def prompt(self, state: State) -> str:
        """Return the prompt."""
        sign = "#" if self.privileged else ">"
        if self.rest:
            return MORE
        return f"{shows.host(state)}{f'({self.place()})' if self.configuring else ''}{sign}"

    def place(self) -> str:
        """Return the text between the prompt's parentheses."""
        raise NotImplementedError

    def candidate(self, state: State) -> Node:
        """Return the configuration that lines of the open session edit."""
        return state["candidates"][self.session]["tree"]

    def typed(self, state: State, path: list[str], mode: str, text: str, now: float) -> tuple[Node, list[str], str]:
        """Take a configuration line; return the configuration with it, and the path and the mode that it leads to."""
        target = self.candidate(state) if self.session else copy.deepcopy(state["running"])
        after, opened = self.language.apply(target, path, mode, state["platform"], text)
        if not self.session:
            candidate.replace(state, target, now, self.link)
        return target, after, opened

    def applied(self, state: State, target: Node, text: str, opened: str) -> str:
        """Return what the terminal shows after a configuration line that was taken."""
        del state, target, text, opened
        return ""

    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks; return what the terminal shows. Raises Refused with what it shows instead."""
        text = line.strip()
        if self.rest:
            return self._page(self.rest)
        if not text or text.startswith("!"):
            return ""
        if not self.configuring:
            return self._exec(state, text, now)
        inner, *above = range(len(self.path), -1, -1)
        tries: list[Callable[[], str]] = [lambda: self._configure(state, text, now, inner)]
        tries.append(lambda: self._exec(state, text, now))
        tries += [lambda depth=depth: self._configure(state, text, now, depth) for depth in above]
        return self._first(tries)

    def to_exec(self) -> None:
        """Leave all configuration modes."""
        self.configuring, self.session, self.path = False, "", []

    def configure(self, session: str = "") -> None:
        """Enter the configuration, or a candidate of it."""
        self.to_exec()
        self.configuring, self.session = True, session

    def left(self, state: State) -> None:
        """Act on a user who leaves a candidate silently."""

    def enable(self, _state: State, found: Match, _now: float) -> str:
        """Begin or end privileged mode."""
        self.privileged = found.text == "enable"
        return ""

    def terminal(self, _state: State, found: Match, _now: float) -> str:
        """Set the terminal up: `terminal length N`, `terminal width N`, `[no] terminal monitor`."""
        if "monitor" in found.text:
            self.monitor = not found.text.startswith("no")
        self.rows = int(found.args.get("rows", self.rows))
        return ""

    def exit(self, state: State, found: Match, _now: float) -> str:
        """Go one mode up, to exec, or away."""
        if self.path and found.text == "exit":
            self.path.pop()
        elif self.configuring:
            self.left(state)
            self.to_exec()
        else:
            self.over = True
        return ""

    def configure_terminal(self, _state: State, _found: Match, _now: float) -> str:
        """Enter the configuration as it runs."""
        self.configure()
        return self.help

    def save(self, state: State, _found: Match, _now: float) -> str:
        """Let a restart keep what runs."""
        state["startup"] = copy.deepcopy(state["running"])
        return self.saved

    def _configure(self, state: State, text: str, now: float, depth: int) -> str:
        """Apply a configuration line in the mode that is `depth` blocks deep."""
        path = [key for key, _ in self.path[:depth]]
        mode = self.path[depth - 1][1] if depth else "config"
        target, after, opened = self.typed(state, path, mode, text, now)
        self.path = self.path[:depth] + ([(after[-1], opened)] if len(after) > len(path) else [])
        return self.applied(state, target, text, opened)

    def _exec(self, state: State, text: str, now: float) -> str:
        grammar = self.language.grammar
        command, *pipes = [part.strip() for part in text.split("|")] if re.match(r"(?i)sh(o(w)?)? ", text) else [text]
        mine = self._commands()
        found = grammar.match([*mine, *self.shows], command)
        if not self.privileged and found.text.startswith(self.closed):
            raise Refused(self.not_privileged)
        if found.pattern in mine:
            return mine[found.pattern](self, state, found, now)
        question = shows.Question(state, found.args, now, self.vty, self.session)
        answer = shows.piped(grammar, self.shows[found.pattern](question), pipes, self.unconverted)
        return answer if "no-more" in pipes else self._page(answer.split("\n"))

    def _commands(self) -> dict[str, Handler]:
        """Return the commands of the terminal's mode that are not lines of the configuration."""
        inside = {**(self.in_session if self.session else {}), **(self.in_config if self.configuring else {})}
        return {**self.commands, **inside}

    def _page(self, lines: list[str]) -> str:
        """Return as much as the terminal shows at once."""
        height = self.rows or len(lines)
        self.rest = lines[height:]
        return "\n".join(lines[:height])

    def _first(self, tries: list[Callable[[], str]]) -> str:
        """Return the first answer that isn't a refusal; if all refuse, the first that says more than `Invalid`."""
        refusals = []
        for attempt in tries:
            try:
                return attempt()
            except Refused as refused:
                refusals.append(refused)
        invalid = self.language.grammar.invalid
        raise next((refused for refused in refusals if str(refused) != invalid), refusals[0])


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
        """Come up with the saved configuration."""
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
