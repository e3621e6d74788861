# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch as a device that converges: a change is a transaction that rolls itself back unless it is proven.

Only the controller imports this: it needs netmiko.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

from ..core.converge import DeviceError, Step
from .login import Login
from .model import SwitchProfile
from .nos.dialect import SESSION_PREFIX, Dialect, DialectError
from .plan import CANDIDATE, CONFIRM, PORT, PROVE, Config, difference
from .session_io import NetmikoSession, Refused
from .strategy import Strategy
from .way_back_io import go_back

RETRY_S = 0.5


@dataclass(frozen=True)
class Limits:
    """Times in seconds: for one answer, until an unconfirmed change rolls back, until the hardware follows."""

    answer_s: float = 60.0
    confirm_s: int = 300
    settle_s: float = 10.0


class Session(Protocol):
    """A user's terminal on a switch."""

    def send(self, line: str) -> str:
        """Type a line and return the answer without echo and prompt. Raises Refused, DeviceError."""
        raise NotImplementedError

    def close(self) -> None:
        """Hang up."""
        raise NotImplementedError


class Switch:
    """Reads over one SSH session. A change ends it, and is proven, confirmed and read back over another one."""

    def __init__(
        self,
        login: Login,
        dialect: Dialect,
        profile: SwitchProfile,
        limits: Limits,
        log_in: Callable[[Login, Dialect, float], Session] = NetmikoSession,
        consent: str = "",
    ) -> None:
        """Nothing is contacted yet. `consent` is the variable that would allow an untried release; empty if it does."""
        self._login, self._dialect, self._profile, self._limits = login, dialect, profile, limits
        self._log_in, self._consent = log_in, consent
        self._release: str | None = None
        self._session: Session | None = None
        self._open: Session | None = None
        self._last: Config | None = None
        self._before: Config | None = None
        self._seconds = limits.confirm_s

    @property
    def name(self) -> str:
        """The inventory's name of the switch."""
        return self._login.name

    @property
    def last(self) -> Config:
        """The result of the last read()."""
        return self._last or self.read()

    @property
    def _strategy(self) -> Strategy:
        """How this switch makes a change, by its last answers."""
        return self._dialect.strategy(self.last.own)

    def read(self) -> Config:
        """Read the owned lines, in the form of the switch's release. Raises DeviceError."""
        if self._release is None:
            self._release = self._known_release()
        reads = (*self._dialect.reads, *self._dialect.more_reads(self._profile, self._release))
        answers = [self._send(command) for command in reads]
        try:
            self._last = self._dialect.parse(answers, self._profile)
        except DialectError as err:
            raise DeviceError(f"{self.name}: {err}") from err
        return self._last

    def unproven(self, config: Config) -> list[str]:
        """Where the hardware does not follow, of ports whose configuration is what the profile wants."""
        have = dict(config.sections)
        wrong = {name for name, lines in self._dialect.render(self._profile).sections if have.get(name, ()) != lines}
        if any(not name.startswith(PORT) for name in wrong):
            return []
        return [sentence for sentence in config.unproven if f"{PORT}{sentence.split()[0]}" not in wrong]

    def apply(self, steps: Sequence[Step[Config]]) -> None:
        """Type the steps' lines. A group of the candidate is one change: tried out, proven over a new session, kept.

        Raises DeviceError after the roll-back, or with the time after which the switch rolls back by itself.
        """
        target = self._before = self.last
        for (place, _unused), group in groupby(steps, key=lambda step: (step.payload.place, step.payload.group)):
            given = []
            for step in group:
                given.append(step.payload)
                target = step.becomes(target)
            lines = [line for typed in given for line in typed.lines]
            if place == CANDIDATE:
                name = self._try_out(lines)
                self._keep(name, self._strategy.confirmation(name), target)
            elif place == CONFIRM:
                self._keep(given[0].session, "\n".join(lines), target)
            elif place == PROVE:
                earlier = self._strategy.earlier(self.last.own)
                self._before = replace(self.last, sections=earlier or self.last.sections)
                self._keep("", "", target)
            else:
                for line in lines:
                    self._send(line)
            self._before = target

    def close(self) -> None:
        """Hang up, also where a change could still be confirmed."""
        for session in (self._session, self._open):
            if session:
                session.close()
        self._session = self._open = None

    def _known_release(self) -> str:
        releases = self._dialect.releases
        release = releases.read(self._send(releases.line))
        if why := releases.refusal(release, self._consent):
            raise DeviceError(f"{self.name}: {why}")
        return release

    def _send(self, line: str) -> str:
        if not self._session:
            self._session = self._log_in(self._login, self._dialect, self._limits.answer_s)
        return self._session.send(line)

    def _try_out(self, lines: Sequence[str]) -> str:
        """Put the change in force for a time; a connection made after it proves it. This one is over, or stays open."""
        strategy, name, given = self._strategy, f"{SESSION_PREFIX}{secrets.token_hex(4)}", tuple(lines)
        self._seconds = strategy.seconds(self._limits.confirm_s, given)
        try:
            for line in strategy.change(name, self._seconds, given, self.last.own):
                self._send(line)
        except DeviceError as err:
            raise DeviceError(f"{err}; {self._undo(name)}", **err.details) from err
        if strategy.kept_by_its_own(name, self._seconds):
            self._open, self._session = self._session, None
        else:
            self.close()
        return name

    def _keep(self, name: str, confirmation: str, target: Config) -> None:
        """Prove the change that is in force, then keep it."""
        try:
            self._prove(target)
            if self._strategy.earlier(self.last.own):
                return  # no timer runs, and what follows saves it
            lost = self._confirm(name, confirmation)
            if self.read().waiting:
                raise lost or DeviceError(f"{self.name} confirmed {name}, but the session still waits for confirmation")
            self._try(self._strategy.tidied(name))
        except DeviceError as err:
            raise DeviceError(f"{err}; {self._undo(name)}", **err.details) from err

    def _confirm(self, name: str, line: str) -> DeviceError | None:
        """Keep a proven change. What went wrong is returned: the caller reads the effect."""
        still_open, self._open = self._open, None
        if not still_open:
            return self._try(line)
        try:
            for own in self._strategy.kept_by_its_own(name, self._seconds):
                still_open.send(own)
        except DeviceError as err:
            return err
        finally:
            still_open.close()
        return None

    def _try(self, text: str) -> DeviceError | None:
        """Type lines whose effect the caller reads afterwards: the switch may act although its answer was lost."""
        lines = text.splitlines()
        try:
            for line in lines:
                self._send(line)
        except DeviceError as err:
            if len(lines) > 1 or not isinstance(err, Refused):
                self.close()  # the mode of the terminal is unknown now
            return err
        return None

    def _prove(self, target: Config) -> None:
        deadline = time.monotonic() + self._limits.settle_s
        while True:
            config = self.read()
            wrong = difference(config, target) or "".join(self.unproven(config)[:1])
            if not wrong:
                return
            if time.monotonic() >= deadline:
                raise DeviceError(f"{self.name} reported success, but the change is not in effect: {wrong}")
            time.sleep(RETRY_S)

    def _undo(self, name: str) -> str:
        """Drop the session over a new connection, and return the result as a clause."""
        self.close()
        strategy = self._strategy
        if strategy.earlier(self.last.own):
            said = go_back(self.read, self._send, self._dialect, name, self._before or self.last)
            self.close()
            return said
        try:
            if self.read().waiting == name and (text := strategy.roll_back(name)):
                self._try(text)
            elif not strategy.kept_by_its_own(name, self._seconds):  # what an open session prepared is gone with it
                self._try(strategy.abort(name))
            config = self.read()
        except DeviceError:
            return self._by_itself(name)
        if name in (config.waiting, *config.stale):
            return self._by_itself(name)
        wrong = difference(config, self._before or config)
        return f"the session is gone, but {wrong}, unlike before" if wrong else "the change was rolled back"

    def _by_itself(self, name: str) -> str:
        self.close()
        return f"the session {name} stays: if it is in force, it rolls back by itself within {self._seconds} s"
