# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One logged-in user: which mode the terminal is in, what a typed line means there, which prompt comes back.

A line is tried in the mode itself, then as an exec command (EOS shows from anywhere), then in the modes above.
"""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING

from lab.emulators.fabric.eos import grammar, sessions, shows, tree
from lab.emulators.fabric.eos.grammar import INVALID, Match, Refused
from lab.emulators.fabric.eos.lines import prompt_part
from lab.emulators.fabric.eos.ports import PORTS
from lab.emulators.fabric.eos.qos_shows import QOS

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.emulators.fabric.eos.sessions import State

SHOWS = {**shows.GENERAL, **PORTS, **QOS}
CLOSED = ("configure", "no configure", "copy", "write", "show running", "show startup", "show session-")
"""What a user may not type before `enable`."""
NOT_PRIVILEGED = f"{INVALID} (privileged mode required)"
UNCONVERTED = '% This is an unconverted command\n{\n    "errors": [\n        "This is an unconverted command"\n    ]\n}'
NO_PORT = "! Interface does not exist. The configuration will not take effect until the module is inserted."
SAVED = "Copy completed successfully."


class Cli:
    """The command line as one user sees it; the switch itself is the state that every call is given."""

    def __init__(self, user: str, vty: str) -> None:
        """Begin where EOS begins: logged in, not privileged."""
        self.user = user
        self.vty = vty
        self.privileged = False
        self.configuring = False
        self.session = ""
        self.path: list[tuple[str, str]] = []
        self.monitor = True
        self.over = False

    @property
    def mode(self) -> str:
        """Return the innermost mode: exec, enable, config, if, qos-profile, if-queue or profile-queue."""
        if not self.configuring:
            return "enable" if self.privileged else "exec"
        return self.path[-1][1] if self.path else "config"

    def prompt(self, state: State) -> str:
        """Return the prompt; a session shows with the first six characters of its name."""
        sign = "#" if self.privileged else ">"
        if not self.configuring:
            return f"{shows.host(state)}{sign}"
        parts = ["config"] + ([f"s-{self.session[:6]}"] if self.session else [])
        parts += [prompt_part(tree.header(key)) for key, _ in self.path]
        return f"{shows.host(state)}({'-'.join(parts)}){sign}"

    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks; return what the terminal shows. Raises Refused with what it shows instead."""
        text = line.strip()
        if not text or text.startswith("!"):
            return ""
        if not self.configuring:
            return self._exec(state, text, now)
        inner, *above = range(len(self.path), -1, -1)
        tries: list[Callable[[], str]] = [lambda: self._configure(state, text, now, inner)]
        tries.append(lambda: self._exec(state, text, now))
        tries += [lambda depth=depth: self._configure(state, text, now, depth) for depth in above]
        return _first(tries)

    def _configure(self, state: State, text: str, now: float, depth: int) -> str:
        """Apply a configuration line in the mode that is `depth` blocks deep."""
        path = [key for key, _ in self.path[:depth]]
        mode = self.path[depth - 1][1] if depth else "config"
        target = self._candidate(state) if self.session else copy.deepcopy(state["running"])
        after, opened = tree.apply(target, path, mode, state["platform"], text)
        if not self.session:
            sessions.replace(state, target, now)
        self.path = self.path[:depth] + ([(after[-1], opened)] if len(after) > len(path) else [])
        port = tree.header(after[-1]).removeprefix("interface ") if after else ""
        if opened == "if" and mode == "config" and port.startswith("Ethernet") and port not in state["ports"]:
            return NO_PORT
        return tree.warning(target) if "watchdog default" in text else ""

    def _candidate(self, state: State) -> tree.Node:
        found = state["sessions"].get(self.session)
        if not found or found["state"] != "pending":
            raise Refused(f"% Session {self.session} not found")
        return found["tree"]

    def _exec(self, state: State, text: str, now: float) -> str:
        command, *pipes = [part.strip() for part in text.split("|")] if _is_show(text) else [text]
        commands = {**COMMANDS, **(IN_SESSION if self.session else {}), **(IN_CONFIG if self.configuring else {})}
        found = grammar.match([*commands, *SHOWS], command)
        if not self.privileged and found.text.startswith(CLOSED):
            raise Refused(NOT_PRIVILEGED)
        if found.pattern in commands:
            return commands[found.pattern](self, state, found, now)
        question = shows.Question(state, found.args, now, self.vty, self.session)
        return _piped(SHOWS[found.pattern](question), pipes)

    def _to_exec(self) -> None:
        self.configuring, self.session, self.path = False, "", []

    def _enable(self, _state: State, found: Match, _now: float) -> str:
        self.privileged = found.text == "enable"
        return ""

    def _exit(self, state: State, found: Match, _now: float) -> str:
        if self.path and found.text == "exit":
            self.path.pop()
        elif self.configuring:
            sessions.leave(state, self.vty)
            self._to_exec()
        else:
            self.over = True
        return ""

    def _terminal(self, _state: State, found: Match, _now: float) -> str:
        if "monitor" in found.text:
            self.monitor = not found.text.startswith("no")
        elif found.words[1] == "width":
            return f"Width set to {found.args['columns']} columns."
        elif found.args["rows"] == "0":
            return "Pagination disabled."
        return ""

    def _terminal_configure(self, _state: State, _found: Match, _now: float) -> str:
        self._to_exec()
        self.configuring = True
        return ""

    def _enter(self, state: State, found: Match, now: float) -> str:
        name = found.args.get("name") or f"sess-{int(now)}-{self.vty.removeprefix('vty')}"
        sessions.enter(state, name, self.vty, self.user)
        self._to_exec()
        self.configuring, self.session = True, name
        return ""

    def _commit(self, state: State, found: Match, now: float) -> str:
        hours, minutes, seconds = (int(part) for part in found.args.get("time", "0:0:0").split(":"))
        timer = hours * 3600 + minutes * 60 + seconds
        sessions.commit(state, found.args.get("name") or self.session, self.user, now, timer)
        self._to_exec()
        return ""

    def _abort(self, state: State, found: Match, now: float) -> str:
        sessions.abort(state, found.args.get("name") or self.session, now)
        self._to_exec()
        return ""

    def _save(self, state: State, _found: Match, _now: float) -> str:
        state["startup"] = copy.deepcopy(state["running"])
        return SAVED


COMMANDS: dict[str, Callable[[Cli, State, Match, float], str]] = {
    "enable": Cli._enable,
    "disable": Cli._enable,
    "exit": Cli._exit,
    "logout": Cli._exit,
    "quit": Cli._exit,
    "terminal length <rows:int:0-32767>": Cli._terminal,
    "terminal width <columns:int:10-32767>": Cli._terminal,
    "terminal monitor": Cli._terminal,
    "no terminal monitor": Cli._terminal,
    "configure [terminal]": Cli._terminal_configure,
    "configure session [<name:word>]": Cli._enter,
    "configure session <name:word> commit [timer <time:hms>]": Cli._commit,
    "configure session <name:word> abort": Cli._abort,
    "no configure session <name:word>": Cli._abort,
    "write [memory]": Cli._save,
    "copy running-config startup-config": Cli._save,
}
IN_CONFIG: dict[str, Callable[[Cli, State, Match, float], str]] = {"end": Cli._exit}
IN_SESSION: dict[str, Callable[[Cli, State, Match, float], str]] = {
    "commit [timer <time:hms>]": Cli._commit,
    "abort": Cli._abort,
}


PIPES = ("json", "no-more", "include <text:rest>", "exclude <text:rest>", "section <text:rest>")


def _first(tries: list[Callable[[], str]]) -> str:
    """Return the first answer that isn't a refusal; if all refuse, the first that says more than `Invalid input`."""
    refusals = []
    for attempt in tries:
        try:
            return attempt()
        except Refused as refused:
            refusals.append(refused)
    raise next((refused for refused in refusals if str(refused) != INVALID), refusals[0])


def _is_show(text: str) -> bool:
    return re.match(r"sh(o(w)?)? ", text.lower()) is not None


def _piped(answer: shows.Answer, pipes: list[str]) -> str:
    """Pass an answer through `| json`, `| include X`, `| exclude X`, `| section X` and `| no-more`."""
    text = answer.text
    for pipe in pipes:
        found = grammar.match(PIPES, pipe)
        wanted = found.args.get("text", "")
        if found.text == "json":
            text = UNCONVERTED if answer.data is None else json.dumps(answer.data, indent=4)
        elif found.words[0] in ("include", "exclude"):
            keep, fits = found.words[0] == "include", grammar.expression(wanted)
            text = "\n".join(line for line in text.splitlines() if bool(fits.search(line)) == keep)
        elif found.words[0] == "section":
            text = "\n".join(shows.section([*text.splitlines()], wanted))
    return text
