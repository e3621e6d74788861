# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One logged-in user: a shell in which `nv` is the only program."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.nvue import revisions, shows, tree
from lab.emulators.fabric.switch import Refused, Shell

if TYPE_CHECKING:
    from lab.emulators.fabric.nvue.revisions import State

UNITS = {"s": 1, "m": 60, "h": 3600, "": 60}
"""Of `--confirm`: a bare number counts minutes."""
TEN_MINUTES = 600.0


class Cli(Shell):
    """The shell as one user sees it; the switch itself is the state that every call is given."""

    def prompt(self, state: State) -> str:
        """Return the prompt; the management VRF shows in it."""
        return f"{self.user}@{state['applied']['system']['hostname']}:mgmt:~$ "

    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks; return what the terminal shows. Raises Refused with what it shows instead."""
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            raise Refused("-bash: unexpected EOF while looking for matching quote") from None
        if not words:
            return ""
        if words[0] in ("exit", "logout"):
            self.over = True
            return "logout"
        if words[0] != "nv":
            raise Refused(f"-bash: {words[0]}: command not found")
        return self._nv(state, words[1:], now)

    def _nv(self, state: State, words: list[str], now: float) -> str:
        verb, rest = (words or [""])[0], words[1:]
        if verb in ("set", "unset"):
            revisions.edit(state, self.user, verb, rest)
            return ""
        if verb == "show":
            return _printed(shows.show(state, _without_output(rest)))
        if verb == "config" and rest:
            return self._config(state, rest[0], rest[1:], now)
        raise Refused(f"Error: Invalid Command: {' '.join(words)}")

    def _config(self, state: State, verb: str, options: list[str], now: float) -> str:
        if verb == "show":
            which = "startup" if "startup" in options or "--startup" in options else "applied"
            if "commands" in options:
                return "\n".join(tree.commands(state[which]))
            return _printed(shows.config(state, which))
        if verb == "revision":
            return _printed(state["revisions"])
        if verb == "detach":
            revisions.detach(state, self.user)
            return ""
        if verb == "save":
            return revisions.save(state)
        if verb == "apply":
            return self._apply(state, options, now)
        raise Refused(f"Error: Invalid Command: config {verb}")

    def _apply(self, state: State, options: list[str], now: float) -> str:
        number = options[0] if options and options[0].isdigit() else ""
        if "--confirm-yes" in options:
            return revisions.confirm(state, number)
        if "--confirm-no" in options:
            return revisions.refuse(state, number, now)
        if "--confirm-status" in options:
            waiting = state["confirm"]
            return f"{waiting['deadline'] - now:.0f} s left" if waiting else "no revision waits for confirmation"
        if not {"-y", "--y", "--assume-yes"} & {*options}:
            return "Are you sure? [y/N]"
        message = options[options.index("-m") + 1] if "-m" in options[:-1] else ""
        return revisions.apply(state, self.user, now, _timer(options), message)


def _timer(options: list[str]) -> float:
    """Return the seconds of `--confirm 300s`; 0 without it."""
    if "--confirm" not in options:
        return 0.0
    following = options[options.index("--confirm") + 1 :]
    found = re.fullmatch(r"(\d+)([smh]?)", following[0]) if following else None
    return float(found[1]) * UNITS[found[2]] if found else TEN_MINUTES


def _without_output(words: list[str]) -> list[str]:
    """Drop `-o json`; tables for people are not emulated."""
    if words[-2:] in (["-o", "json"], ["--output", "json"]):
        return words[:-2]
    raise Refused("Error: the lab prints -o json only")


def _printed(data: Any) -> str:
    return json.dumps(data, indent=2)
