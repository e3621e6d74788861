# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch as a device that converges: a change is a transaction that rolls itself back unless it was proven.

Only the controller imports this: it needs netmiko.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ..core.converge import DeviceError, Step
from .login import Login
from .model import SwitchProfile
from .nos.dialect import OURS, Dialect, DialectError
from .plan import CANDIDATE, CONFIRM, Config
from .session_io import NetmikoSession, Refused

LOOK_AGAIN_S = 0.5


@dataclass(frozen=True)
class Limits:
    """Times in seconds: for one answer, until an unconfirmed change rolls back, until the hardware follows."""

    answer_s: float = 60.0
    confirm_s: int = 300
    settle_s: float = 10.0


class Switch:
    """Reads over one SSH session; a change ends that one, and is proven, confirmed and read back over another."""

    def __init__(self, login: Login, dialect: Dialect, profile: SwitchProfile, limits: Limits) -> None:
        """Nothing is contacted yet."""
        self._login, self._dialect, self._profile, self._limits = login, dialect, profile, limits
        self._session: NetmikoSession | None = None
        self._last: Config | None = None
        self._before: Config | None = None

    @property
    def name(self) -> str:
        """The inventory's name of the switch."""
        return self._login.name

    @property
    def last(self) -> Config:
        """What the last read() gave."""
        return self._last or self.read()

    def read(self) -> Config:
        """Read what we own. Raises DeviceError."""
        answers = [self._ask(command) for command in self._dialect.reads]
        try:
            self._last = self._dialect.parse(answers, self._profile)
        except DialectError as err:
            raise DeviceError(f"{self.name}: {err}") from err
        return self._last

    def apply(self, steps: Sequence[Step[Config]]) -> None:
        """Type the steps' lines; those of the candidate are one change, tried out, proven over a new session and kept.

        Raises DeviceError after rolling back, or after saying when the switch will do so itself.
        """
        target = self._before = self.last
        for step in steps:
            target = step.becomes(target)
        for place, group in groupby((step.payload for step in steps), key=lambda typed: typed.place):
            given = list(group)
            lines = [line for typed in given for line in typed.lines]
            if place == CANDIDATE:
                name = self._try_out(lines)
                self._keep(name, self._dialect.commands.confirm(name), target)
            elif place == CONFIRM:
                self._keep(given[0].session, lines[0], target)
            else:
                for line in lines:
                    self._ask(line)

    def close(self) -> None:
        """Hang up."""
        if self._session:
            self._session.close()
        self._session = None

    def _ask(self, line: str) -> str:
        if not self._session:
            self._session = NetmikoSession(self._login, self._dialect, self._limits.answer_s)
        return self._session.ask(line)

    def _try_out(self, lines: Sequence[str]) -> str:
        """Put the change in force for a time, and hang up: what comes next must not lean on this connection."""
        commands, name = self._dialect.commands, f"{OURS}{secrets.token_hex(4)}"
        try:
            for line in (commands.enter(name), *lines, commands.try_out(self._limits.confirm_s)):
                self._ask(line)
        except DeviceError as err:
            raise DeviceError(f"{err}; {self._undo(name)}", **err.details) from err
        self.close()
        return name

    def _keep(self, name: str, confirmation: str, target: Config) -> None:
        """Prove what is in force, over a new session if we made it, then keep it."""
        try:
            self._prove(target)
            lost = self._try(confirmation)
            if self.read().waiting:
                raise lost or DeviceError(f"{self.name} accepted the confirmation of {name} but did not keep it")
        except DeviceError as err:
            raise DeviceError(f"{err}; {self._undo(name)}", **err.details) from err

    def _try(self, line: str) -> DeviceError | None:
        """Type a line whose effect is looked at afterwards: an answer that is lost does not mean it wasn't done."""
        try:
            self._ask(line)
        except Refused as err:
            return err
        except DeviceError as err:
            self.close()
            return err
        return None

    def _prove(self, target: Config) -> None:
        deadline = time.monotonic() + self._limits.settle_s
        while True:
            config = self.read()
            wrong = _difference(config, target) or "".join(config.unproven[:1])
            if not wrong:
                return
            if time.monotonic() >= deadline:
                raise DeviceError(f"{self.name} reported success, but the change is not in effect: {wrong}")
            time.sleep(LOOK_AGAIN_S)

    def _undo(self, name: str) -> str:
        """Drop the session over a fresh connection, and say what became of it."""
        self.close()
        self._try(self._dialect.commands.abort(name))
        try:
            config = self.read()
        except DeviceError:
            return self._by_itself(name)
        if name in (config.waiting, *config.stale):
            return self._by_itself(name)
        wrong = _difference(config, self._before or config)
        return f"the session is gone, but {wrong}, which was there before" if wrong else "the change was rolled back"

    def _by_itself(self, name: str) -> str:
        self.close()
        return (
            f"the session {name} could not be dropped: what is in force of it rolls back by itself within"
            f" {self._limits.confirm_s} s"
        )


def _difference(have: Config, want: Config) -> str:
    """The first owned line that is not what it should be, or nothing."""
    found = dict(have.sections)
    for name, lines in want.sections:
        got = found.get(name, ())
        if missing := [line for line in lines if line not in got]:
            return f"{name} lacks {missing[0].strip()!r}"
        if extra := [line for line in got if line not in lines]:
            return f"{name} still has {extra[0].strip()!r}"
    return ""
