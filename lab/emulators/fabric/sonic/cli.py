# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One logged-in user: a shell with `;`, `&&`, quotes, redirection into files, and sudo."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from lab.emulators.fabric.sonic import programs, shows
from lab.emulators.fabric.sonic.programs import taken
from lab.emulators.fabric.switch import Refused, Shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.emulators.fabric.switch import State

PROGRAMS: dict[str, Callable[..., str]] = {
    "cat": programs.cat,
    "echo": programs.echo,
    "mkdir": programs.nothing,
    "pkill": programs.nothing,
    "rm": programs.remove,
    "config": programs.config,
    "sonic-cfggen": programs.cfggen,
    "sonic-db-cli": programs.db_cli,
    "sonic-db-dump": programs.db_dump,
    "systemctl": programs.systemctl,
}


class Cli(Shell):
    """The shell as one user sees it; the switch itself is the state that every call is given."""

    def prompt(self, state: State) -> str:
        """Return the prompt."""
        return f"{self.user}@{state['running']['DEVICE_METADATA']['localhost']['hostname']}:~$ "

    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks; return what the terminal shows. Raises Refused with what it shows instead."""
        if line.strip() in ("exit", "logout"):
            self.over = True
            return "logout"
        return run(state, line, now, root=False)


def script(state: State, path: str, now: float) -> None:
    """Run the lines of a file as root, each whatever the last one did. Raises Refused if the last one fails."""
    failed = ""
    for line in programs.read(state, path).splitlines():
        failed = ""
        try:
            run(state, line, now, root=True)
        except Refused as err:
            failed = str(err)
    if failed:
        raise Refused(failed)


def run(state: State, line: str, now: float, *, root: bool) -> str:
    """Run the commands of one line. Raises Refused if its last one fails."""
    shown: list[str] = []
    failed = ""
    for joint, words in _commands(line):
        if joint == "&&" and failed:
            break
        failed = ""
        try:
            shown.append(_command(state, words, now, root=root))
        except Refused as err:
            failed = str(err)
            shown.append(failed)
    text = "\n".join(filter(None, shown))
    if failed:
        raise Refused(text)
    return text


def _commands(line: str) -> list[tuple[str, list[str]]]:
    """Return each command with the `;` or `&&` before it."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    found: list[tuple[str, list[str]]] = [("", [])]
    try:
        for word in lexer:
            if word in (";", "&&"):
                found.append((word, []))
            else:
                found[-1][1].append(word)
    except ValueError:
        raise Refused("-bash: unexpected EOF while looking for matching quote") from None
    return [(joint, words) for joint, words in found if words]


def _command(state: State, words: list[str], now: float, *, root: bool) -> str:
    if len(words) > 2 and words[-2] in (">", ">>"):
        *words, joint, path = words
        before = state["files"].get(path, "") if joint == ">>" else ""
        state["files"][path] = f"{before}{_command(state, words, now, root=root)}\n"
        return ""
    if got := taken("sudo **", words):
        return _command(state, got, now, root=True)
    if got := taken("show **", words):
        return shows.show(state, got)
    if root and (got := taken("systemd-run **", words)):
        return programs.start_timer(state, got, now)
    if root and (got := taken("systemctl start *", words)):
        return _start(state, got[0], now)
    if words[0] in PROGRAMS:
        return PROGRAMS[words[0]](state, words[1:], root=root)
    raise Refused(f"-bash: {words[0]}: command not found")


def _start(state: State, unit: str, now: float) -> str:
    """Run the service of a timer to its end."""
    *_, path = programs.command(state, unit)
    try:
        script(state, path, now)
    except Refused as err:
        raise Refused(f"Job for {unit} failed because the control process exited with error code.\n{err}") from None
    return ""
