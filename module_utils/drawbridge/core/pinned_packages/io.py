# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Debian packages of chosen versions, with their sources."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..command import Run
from ..converge import Step
from ..files import write_bytes
from ..packages.apt import Apt
from .history import installed_by
from .plan import HOLD, SOURCES, PinnedState, as_they_are

HISTORY = Path("/var/log/apt/history.log")
FORMAT = "${Package} ${Version} ${db:Status-Want} ${db:Status-Status}\\n"
CHOSEN = ("--allow-downgrades", "--allow-change-held-packages")
"""The site chooses the version, and Drawbridge holds the packages."""


class PinnedPackages:
    """Packages of this host, each of one version. `found` turns NAME=VERSION into what apt installs."""

    name = "packages"

    def __init__(
        self,
        run: Run,
        want: PinnedState,
        sources: Path,
        apt: Apt,
        found: Callable[[Sequence[str]], Sequence[str]] = as_they_are,
        history: Path = HISTORY,
    ) -> None:
        self._run, self._want, self._sources, self._apt, self._found = run, want, sources, apt, found
        self._history = history

    def read(self) -> PinnedState:
        """Query dpkg. A removed package that left its configuration is not installed."""
        wanted: Mapping[str, str] = self._want.versions
        out = self._run(["dpkg-query", "-W", "-f", FORMAT, *wanted], ok=(0, 1)).out
        rows = {row[0]: row[1:] for row in (line.split() for line in out.splitlines()) if len(row) == 4}
        installed = {name: row[0] for name, row in rows.items() if row[2] == "installed"}
        other = {name: version for name, version in installed.items() if wanted[name] != version}
        return PinnedState(
            versions={name: installed.get(name, "") for name in wanted},
            installed=installed_by(self._history.read_text(errors="replace"), other)
            if other and self._history.exists()
            else {},
            held=frozenset(name for name in installed if rows[name][1] == "hold"),
            sources=self._sources.read_text() if self._sources.exists() else "",
            cut_off=self._apt.cut_off,
        )

    def apply(self, steps: Sequence[Step[PinnedState]]) -> None:
        for step in steps:
            verb, names = step.payload
            if verb == SOURCES:
                self._write_sources(self._want.sources)
            elif verb == HOLD:
                self._apt.run_unlocked(["apt-mark", "hold", *names])
            else:
                self._apt.install(self._found(names), *CHOSEN)

    def _write_sources(self, text: str) -> None:
        if text:
            write_bytes(self._sources, text.encode(), 0o644, (os.geteuid(), os.getegid()))
        else:
            self._sources.unlink(missing_ok=True)
