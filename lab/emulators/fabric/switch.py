# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated switch on disk: every line that users type goes through here, is journalled, and may meet a fault.

Faults are those of every emulated device, and some that only a terminal can have:

    `slow`     the echo crawls.                 `syslog`   a log line bursts in before the prompt.
    `leave`    the switch answers and prompts, then ends the session.
    `stale`    another user's change waits when the line is typed: under a timer, or as an open candidate.
    `reboot`   the switch restarts at the line, which is not done.
    `edit`     another operator changes MTU and description of the first port just before the line.
"""

from __future__ import annotations

import abc
import copy
from typing import TYPE_CHECKING, Any, Self

from lab.emulators import common
from lab.emulators.fabric import data_model
from lab.emulators.fabric.effects import EDIT, REBOOT, STALE, TERMINAL_EFFECTS
from lab.emulators.fabric.releases import KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

State = dict[str, Any]


class Refused(Exception):
    """The system does not take the line; the text is what it prints."""


class Shell(abc.ABC):
    """One logged-in user's command line."""

    monitor = False
    over = False

    def __init__(self, user: str, vty: str) -> None:
        """Begin where a login begins."""
        self.user = user
        self.vty = vty

    @abc.abstractmethod
    def prompt(self, state: State) -> str:
        """Return the prompt as it stands now."""

    @abc.abstractmethod
    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks; return what the terminal shows. Raises Refused with what it shows instead."""


class EmulatedSwitch(abc.ABC):
    """One emulated switch: its device directory and what it is made of when it is new."""

    platforms: tuple[str, ...]
    """Hardware that it can be; what it is by default comes first."""
    factory: Callable[[str, str, int, str], State]
    """(name, platform, ports, address) -> the state of a new switch."""
    terminal: Any
    """(user, vty) -> a user's command line."""
    tool = ""
    """The name that faults and the journal have for it."""
    failed = ""
    """What a line prints whose fault is `refuse`, unless refusal() says something else."""
    expired = "confirmation timed out"
    """The journal's name for a timer that ran out, and its key for what it ended."""
    expires = "revision"
    in_force: tuple[str, ...] = ()
    """Keys of the state that a line writes when it changes what runs or what a restart brings back."""
    staged: tuple[str, ...] = ()
    """Keys that hold prepared changes, which are not in force."""

    def __init__(self, device: common.Device, new: State) -> None:
        """Take up the device's state."""
        self.device = device
        self.new = new
        self.shown: common.Device | None = None
        with device.state(new) as state:
            state.setdefault("booted", device.now())
            self.begin(state)

    def begin(self, state: State) -> None:
        """Forget the terminals of an earlier process."""
        del state

    def gone(self, state: State, cli: Any) -> None:
        """Forget a terminal that ended; what its user has prepared stays."""
        del state, cli

    @classmethod
    def make(cls, device: common.Device, name: str, platform: str, ports: int, address: str, version: str = "") -> Self:
        """Take up a switch, as the site's staging left it if it is new, with a release other than the usual one."""
        new = cls.factory(name, platform, ports, address)
        return cls(device, {**new, KEY: version} if version else new)

    def show_to(self, shown: common.Device) -> None:
        """Show the hosts from now on what packets meet here, and take counters from them."""
        self.shown = shown
        with self.device.state(self.new) as state:
            self._show(state)

    def _show(self, state: State) -> None:
        if self.shown:
            with self.shown.state() as there:
                there.update(self.forwarding(state))

    def forwarding(self, state: State) -> dict[str, Any]:
        """Return what packets meet here, as lab.emulators.proof.physics has it; nothing limits nothing."""
        del state
        return {}

    @abc.abstractmethod
    def known(self, state: State) -> Iterable[str]:
        """Return who may log in."""

    def users(self) -> set[str]:
        """Return who may log in now."""
        with self.device.state(self.new) as state:
            return {*self.known(state)}

    def cli(self, user: str, vty: str, *, once: bool) -> Any:
        """Begin a user's command line; `once` is a single command without a terminal."""
        del once
        return self.terminal(user, vty)

    @abc.abstractmethod
    def reads_only(self, line: str) -> bool:
        """Say whether a line can't change anything."""

    @abc.abstractmethod
    def leave_waiting(self, state: State, now: float) -> None:
        """Let another change be in force under a timer, where the system knows such a thing."""

    @abc.abstractmethod
    def drift(self, before: State, after: State) -> None:
        """Let another user undo the last value that a line changed."""

    @abc.abstractmethod
    def expire(self, state: State, now: float) -> str:
        """Act on timers that have run out; return the name of the one that did something, or nothing."""

    def half(self, state: State, before: State) -> None:
        """Leave half of what a line did, which died. A system whose changes are one step leaves them whole."""
        del state, before

    def refusal(self, line: str) -> str:
        """Return the text with which the system turns such a line down."""
        del line
        return self.failed

    @abc.abstractmethod
    def restart(self, state: State, now: float) -> None:
        """Come up again with what a restart brings back."""

    @abc.abstractmethod
    def edit(self, state: State, now: float) -> None:
        """Let another operator change and save a value that Drawbridge owns, and one that it doesn't."""

    def where(self, cli: Any) -> dict[str, str]:
        """Return who types, and where, for the journal."""
        return {"user": cli.user, "vty": cli.vty}

    def cable(self, neighbors: dict[str, list[str]]) -> None:
        """Plug cables in: port -> [device, port] at the other end."""
        with self.device.state(self.new) as state:
            state["neighbors"] = neighbors
            self._show(state)

    def fault(self, line: str) -> str | None:
        """Return the effect of the fault that a line meets, if any; used up by asking."""
        effects = (common.HANG, common.DIE, common.REFUSE, STALE, REBOOT, EDIT, *TERMINAL_EFFECTS)
        among = effects if self.reads_only(line) else (*effects, common.LIE, common.DRIFT)
        return self.device.fault(self.tool, line, among) if line.strip() else None

    def prompt(self, cli: Shell) -> str:
        """Return the prompt as it stands now."""
        with self.device.state(self.new) as state:
            return cli.prompt(state)

    def execute(self, cli: Shell, line: str, effect: str | None = None) -> str:
        """Do what a line asks, or what its fault makes of it; return what the terminal shows."""
        self.tick()
        refused, where = False, self.where(cli)
        with self.device.state(self.new) as state:
            now = self.device.now()
            self._take_counters(state)
            if effect == STALE:
                self.leave_waiting(state, now)
            if effect == EDIT:
                self.edit(state, now)
            before = copy.deepcopy(state)
            work = copy.deepcopy(state) if effect == common.LIE else state
            try:
                refused = effect == common.REFUSE
                if effect == REBOOT:
                    self.restart(state, now)
                shown = "" if effect == REBOOT else self.refusal(line) if refused else cli.run(work, line, now)
            except Refused as refusal:
                shown, refused = str(refusal), True
            if effect == common.DRIFT:
                self.drift(before, state)
            if effect == common.DIE:
                self.half(state, before)
            changes = {"writes": _differ(self.in_force, before, state), "stages": _differ(self.staged, before, state)}
            if effect or changes["writes"]:
                self._show(state)
        if line.strip():
            self.device.journal(tool=self.tool, argv=line.split(), line=line, rc=int(refused), **where, **changes)
        return shown

    def _take_counters(self, state: State) -> None:
        if self.shown:
            with self.shown.state() as there:
                state[data_model.PASSED] = there.get("counters", {})

    def tick(self) -> None:
        """Act on timers, also when no user is logged in."""
        with self.device.state(self.new) as state:
            gone = self.expire(state, self.device.now())
            if gone:
                self._show(state)
        if gone:
            self.device.journal(tool=self.tool, argv=[], event=self.expired, **{self.expires: gone}, writes=True)

    def logged_in(self, cli: Shell, peer: str) -> None:
        """Note a connection."""
        self._event("connect", cli, peer=peer)

    def logged_out(self, cli: Shell) -> None:
        """Note its end."""
        with self.device.state(self.new) as state:
            self.gone(state, cli)
        self._event("disconnect", cli)

    def log_line(self, cli: Shell) -> str:
        """Return nothing: a shell shows no log."""
        del cli
        return ""

    def _event(self, event: str, cli: Shell, **fields: str) -> None:
        self.device.journal(tool=self.tool, argv=[], event=event, user=cli.user, vty=cli.vty, writes=False, **fields)


def _differ(keys: Iterable[str], before: State, after: State) -> bool:
    return any(before[key] != after[key] for key in keys)
