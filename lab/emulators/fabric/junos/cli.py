# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One logged-in user: operational and configuration mode, and what a typed line means there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.emulators.fabric.junos import commits, schema, shows, statements
from lab.emulators.fabric.junos.checks import check
from lab.emulators.fabric.switch import Refused, Shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.emulators.fabric.junos.commits import State

UNKNOWN_COMMAND = "              ^\nunknown command."
SETTINGS = {
    "set cli screen-width": "Screen width set to {}",
    "set cli screen-length": "Screen length set to {}",
    "set cli complete-on-space": "Disabling complete-on-space",
}
LEAVE = ("exit", "quit", "exit configuration-mode")
CHANGED = "The configuration has been changed but not committed"
_COMMIT = re.compile(
    r"commit(?P<check> check)?(?: confirmed(?: (?P<minutes>\d+))?)?"
    r'(?: comment (?P<comment>"[^"]*"|\S+))?(?P<quit> and-quit)?'
)
TEN = 10


class Cli(Shell):
    """The terminal as one user sees it; the switch itself is the state that every call is given."""

    configuring = False
    asking = False

    def prompt(self, state: State) -> str:
        """Return the prompt with the member's role above it, as switches of the QFX series print it."""
        if self.asking:
            return "Exit with uncommitted changes? [yes,no] (yes) "
        host = statements.value(state["active"], "system host-name")
        above = "{master:0}[edit]" if self.configuring else "{master:0}"
        return f"\r\n{above}\r\n{self.user}@{host}{'#' if self.configuring else '>'} "

    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks; return what the terminal shows. Raises Refused with what it shows instead."""
        text = line.strip()
        if self.asking:
            self.asking, self.configuring = False, text == "no"
            return "" if self.configuring else "Exiting configuration mode"
        if not text:
            return ""
        return self._configure(state, text, now) if self.configuring else self._operate(state, text, now)

    def _operate(self, state: State, text: str, now: float) -> str:
        for start, answer in SETTINGS.items():
            if text.startswith(f"{start} "):
                return answer.format(text.split()[-1])
        if text in ("exit", "quit"):
            self.over = True
            return ""
        if match := re.fullmatch(r"configure( exclusive)?", text):
            remark = commits.enter(state, commits.EXCLUSIVE if match[1] else commits.SHARED, self.vty)
            self.configuring = True
            edited = f"\n{CHANGED}" if state["candidate"] is not None else ""
            return f"{remark}Entering configuration mode{edited}"
        if text.startswith("show "):
            return shows.show(state, text, now)
        raise Refused(UNKNOWN_COMMAND)

    def _configure(self, state: State, text: str, now: float) -> str:
        words = schema.split(text)
        if words[0] in EDITS and len(words) > 1:
            config = commits.candidate(state)
            said = EDITS[words[0]](config, words[1:])
            commits.stage(state, self.user, config)
            return said or ""
        if match := re.fullmatch(r"rollback( \d+)?", text):
            commits.roll_back(state, self.user, int(match[1] or 0))
            return "load complete"
        if match := _COMMIT.fullmatch(text):
            return self._commit(state, match, now)
        if text in LEAVE:
            return self._leave(state)
        if text.startswith("run "):
            return self._operate(state, text.removeprefix("run "), now)
        raise Refused(schema.SYNTAX if words[0] in ("show", "edit", "commit") else UNKNOWN_COMMAND)

    def _commit(self, state: State, match: re.Match[str], now: float) -> str:
        if match["check"]:
            check(commits.candidate(state))
            state["pending"] = None
            return "configuration check succeeds"
        minutes = int(match["minutes"] or TEN) if "confirmed" in match[0] else 0
        commits.commit(state, self.user, self.vty, now, minutes, (match["comment"] or "").strip('"'))
        if match["quit"]:
            self._leave(state)
        waits = f"commit confirmed will be automatically rolled back in {minutes} minutes unless confirmed\n"
        reminder = f"\n\n# commit confirmed will be rolled back in {minutes} minutes" if minutes else ""
        return f"{waits if minutes else ''}commit complete{reminder}"

    def _leave(self, state: State) -> str:
        if state["candidate"] is not None and state["lock"] != self.vty:
            self.asking = True
            return CHANGED
        dropped = "" if state["candidate"] is None else "warning: discarding uncommitted changes\n"
        commits.leave(state, self.vty)
        self.configuring = False
        return f"{dropped}Exiting configuration mode"


EDITS: dict[str, Callable[[statements.Config, list[str]], str | None]] = {
    "set": statements.set_,
    "delete": statements.delete,
    "activate": lambda config, words: statements.switch(config, words, on=True),
    "deactivate": lambda config, words: statements.switch(config, words, on=False),
}
