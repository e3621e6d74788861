# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk: every line that users type goes through here, is journalled, and may meet a fault.

Faults are those of every emulated device, with tool `eos`, and three that only a terminal can have:

    slow     the echo crawls                  syslog   a log line bursts in before the prompt
    stale    another user has a timed commit already waiting when the line is typed
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING

from lab.emulators import common
from lab.emulators.fabric.eos import sessions
from lab.emulators.fabric.eos.cli import Cli
from lab.emulators.fabric.eos.grammar import INVALID, Refused
from lab.emulators.fabric.eos.shows import host
from lab.emulators.fabric.server import STALE, TERMINAL_EFFECTS

if TYPE_CHECKING:
    from lab.emulators.fabric.eos.sessions import State

TOOL = "eos"
OTHER_USER = "noc"
READS = ("show", "sh", "terminal", "enable", "en", "disable", "end", "exit")
UNAVAILABLE = "% Unavailable command (not supported on this hardware platform)"
NO_SPACE = "% Error copying system:/running-config to flash:/startup-config (No space left on device)"
NO_COMMIT = "% Cannot commit session"


class Switch:
    """One emulated switch: its device directory and what it is made of when it is new."""

    def __init__(self, device: common.Device, new: State) -> None:
        """Take up the device's state; terminals of an earlier process are gone, what they left is not."""
        self.device = device
        self._new = new
        with device.state(new) as state:
            state.setdefault("booted", device.now())
            for session in state["sessions"].values():
                session["instances"] = {}

    def cable(self, neighbors: dict[str, list[str]]) -> None:
        """Plug cables in: port -> [device, port] at the other end."""
        with self.device.state(self._new) as state:
            state["neighbors"] = neighbors

    def users(self) -> set[str]:
        """Return who may log in."""
        with self.device.state(self._new) as state:
            lines = state["running"]["lines"].values()
            return {text.split()[1] for text in lines if text.startswith("username ")}

    def cli(self, user: str, vty: str, *, once: bool) -> Cli:
        """Begin a user's command line; a command without a terminal is privileged."""
        cli = Cli(user, vty)
        cli.privileged = once
        return cli

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
        mode, session, refused = cli.mode, cli.session, False
        with self.device.state(self._new) as state:
            now = self.device.now()
            if effect == STALE:
                _leave_stale(state, now)
            before = copy.deepcopy(state)
            work = copy.deepcopy(state) if effect == common.LIE else state
            try:
                shown = _refusal(line) if effect == common.REFUSE else cli.run(work, line, now)
                refused = effect == common.REFUSE
            except Refused as refusal:
                shown, refused = str(refusal), True
            if effect == common.DRIFT:
                _drift(before, state)
            changes = {"writes": _written(before, state), "stages": before["sessions"] != state["sessions"]}
        if line.strip():
            where = {"user": cli.user, "vty": cli.vty, "mode": mode, "session": session}
            self.device.journal(tool=TOOL, argv=line.split(), line=line, rc=int(refused), **where, **changes)
        return shown

    def tick(self) -> None:
        """Roll a timed commit back when its time is over, also when no user is logged in."""
        with self.device.state(self._new) as state:
            gone = sessions.expire(state, self.device.now())
        if gone:
            self.device.journal(tool=TOOL, argv=[], event="commit timer expired", session=gone, writes=True)

    def logged_in(self, cli: Cli, peer: str) -> None:
        """Note a connection."""
        self.device.journal(tool=TOOL, argv=[], event="connect", user=cli.user, vty=cli.vty, peer=peer, writes=False)

    def logged_out(self, cli: Cli) -> None:
        """Note its end; sessions that it had open stay pending."""
        with self.device.state(self._new) as state:
            sessions.leave(state, cli.vty)
        self.device.journal(tool=TOOL, argv=[], event="disconnect", user=cli.user, vty=cli.vty, writes=False)

    def log_line(self, cli: Cli) -> str:
        """Return a log message as it reaches a terminal that monitors."""
        with self.device.state(self._new) as state:
            stamp = time.strftime("%b %d %H:%M:%S", time.gmtime(self.device.now()))
            name = host(state)
        return f"{stamp} {name} ConfigAgent: %SYS-5-CONFIG_I: Configured from console by {cli.user} on {cli.vty}"


def _is_read(line: str) -> bool:
    text = line.strip().lower()
    return text.split(" ")[0] in READS or text in READS or text == "configure terminal"


def _refusal(line: str) -> str:
    """Return the text with which EOS would turn such a line down."""
    if "commit" in line:
        return NO_COMMIT
    if line.startswith(("write", "copy")):
        return NO_SPACE
    return INVALID if _is_read(line) else UNAVAILABLE


def _leave_stale(state: State, now: float) -> None:
    """Another user committed with a timer a minute ago and has not confirmed."""
    name = "maintenance"
    if state["pending"] is None and name not in state["sessions"]:
        sessions.enter(state, name, "vty99", OTHER_USER)
        sessions.commit(state, name, OTHER_USER, now, timer=3600)


def _written(before: State, after: State) -> bool:
    """Say whether the switch itself changed: what runs, what it starts with, what it will go back to."""
    return any(before[key] != after[key] for key in ("running", "startup", "pending"))


def _drift(before: State, after: State) -> None:
    """Another hand puts the last thing that changed back to what it was."""
    _undo_last(before["running"], after["running"])


def _undo_last(before: sessions.tree.Node, after: sessions.tree.Node) -> bool:
    for key in sorted(after["blocks"], key=sessions.tree.natural, reverse=True):
        if _undo_last(before["blocks"].get(key, sessions.tree.empty()), after["blocks"][key]):
            return True
    changed = [
        key for key in {**before["lines"], **after["lines"]} if before["lines"].get(key) != after["lines"].get(key)
    ]
    if not changed:
        return False
    last = max(changed, key=sessions.tree.natural)
    if last in before["lines"]:
        after["lines"][last] = before["lines"][last]
    else:
        del after["lines"][last]
    return True
