# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""RPM packages of chosen versions. Their repository is disabled, so that no other upgrade of the host finds it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ..command import Run
from ..converge import Step
from ..files import write_bytes
from ..packages.dnf import DNF
from .plan import HOLD, SOURCES, PinnedState, as_they_are

FORMAT = "%{NAME} %{VERSION}-%{RELEASE}\\n"
_SECTION = re.compile(r"^\[([^\]]+)\]", re.MULTILINE)


class PinnedRpms:
    """Packages of this host, each of one version. `found` turns NAME=VERSION into what dnf installs."""

    name = "packages"

    def __init__(
        self, run: Run, want: PinnedState, sources: Path, found: Callable[[Sequence[str]], Sequence[str]] = as_they_are
    ) -> None:
        self._run, self._want, self._sources, self._found = run, want, sources, found

    def read(self) -> PinnedState:
        """Query rpm, whose exit code is the number of missing packages."""
        names = list(self._want.versions)
        codes = tuple(range(len(names) + 1))
        out = self._run(["rpm", "--query", "--queryformat", FORMAT, *names], ok=codes).out
        rows = [line.split() for line in out.splitlines()]
        installed = {row[0]: row[1] for row in rows if len(row) == 2}
        return PinnedState(
            versions={name: installed.get(name, "") for name in names},
            held=self._want.held,
            sources=self._sources.read_text() if self._sources.exists() else "",
        )

    def apply(self, steps: Sequence[Step[PinnedState]]) -> None:
        for step in steps:
            verb, names = step.payload
            if verb == SOURCES:
                self._write(self._want.sources)
            elif verb != HOLD and names:
                enabled = [f"--enablerepo={name}" for name in _SECTION.findall(self._want.sources)]
                self._run([*DNF, *enabled, "install", *map(_as_dnf_writes, self._found(names))])

    def _write(self, text: str) -> None:
        if text:
            write_bytes(self._sources, text.encode(), 0o644, (os.geteuid(), os.getegid()))
        else:
            self._sources.unlink(missing_ok=True)


def _as_dnf_writes(package: str) -> str:
    """NAME-VERSION, or the path of a file."""
    return package if package.startswith("/") else package.replace("=", "-", 1)
