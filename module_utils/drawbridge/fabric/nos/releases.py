# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Releases of a network operating system: which ones Drawbridge configures, and what not all of them have."""

from __future__ import annotations

import re
from dataclasses import dataclass

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Came:
    """A command, form or table that younger releases have, older ones not."""

    what: str
    since: str
    source: str


@dataclass(frozen=True)
class Releases:
    """The releases of one system, as its switches print them."""

    system: str
    """Its name for people."""
    line: str
    """The command that shows the release."""
    pattern: str
    """Regular expression of the answer; its group is the release."""
    oldest: str
    newest: str
    """The newest release whose documents Drawbridge was written from."""
    source: str
    """The documents of both."""
    came: tuple[Came, ...] = ()
    counted: str = r"\d+\.\d+.*"
    """Regular expression of the part that can be compared. A release without it is like the newest one, and untried."""

    def read(self, answer: str) -> str:
        """The release in an answer; empty if none is there."""
        match = re.search(self.pattern, answer, re.MULTILINE)
        return match[1] if match else ""

    def has(self, what: str, release: str = "") -> bool:
        """Whether a release has a row of `came`. Without a release: whether all of them do."""
        [row] = [row for row in self.came if row.what == what]
        return self._numbers(release or self.oldest) >= self._numbers(row.since)

    def refusal(self, release: str, consent: str) -> str:
        """Why a release can't be configured, as a clause with the repair; empty if it can.

        `consent` is the variable that allows an untried release; it is empty if the variable does so.
        """
        shown = f"it runs {self.system} {release}" if release else f"its answer to {self.line!r} has no release"
        known = bool(release) and bool(re.search(self.counted, release))
        if known and self._numbers(release) < self._numbers(self.oldest):
            return f"{shown}, but Drawbridge configures {self.oldest} and later; upgrade it"
        newest = self._numbers(self.newest)
        if not consent or (known and self._numbers(release)[: len(newest)] <= newest):
            return ""
        return (
            f"{shown}, and Drawbridge was written from documents of {self.oldest} to {self.newest}; to try it on this"
            f" switch, set {consent}: true"
        )

    def _numbers(self, release: str) -> Numbers:
        match = re.search(self.counted, release)
        return tuple(map(int, re.findall(r"\d+", match[0] if match else self.newest)))
