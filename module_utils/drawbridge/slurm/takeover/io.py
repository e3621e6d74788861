# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon whose files may be the site's still."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from ...core import files
from ...core.converge import DeviceError, Step
from ...core.daemon.io import Daemon
from ...core.daemon.plan import DaemonState
from ...core.file_entry import Entry
from ...core.units import Unit
from .. import secret_text
from . import environment
from .environment import is_foreign
from .model import Change
from .plan import COPIES, TakeoverState


@dataclass(frozen=True)
class Site:
    """What the site has on this host."""

    scripts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Programs of the site that the intent keeps, by key of slurm.conf."""
    stale: Sequence[str] = ()
    """Files that must not exist, unless Drawbridge has written them: all hosts may share /etc/slurm."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Passwords by key."""
    copies: str = COPIES
    release: str = ""
    """Slurm's release, such as 24.11, whose words count; empty: those of any."""


NOTHING = Site()


class TakenOver(Daemon):
    """A daemon that Drawbridge takes over from the site. Passwords in its files are in no state.

    Of the site's files it compares the unit's environment, which is all that a compute node has.
    """

    def __init__(self, unit: Unit, want: TakeoverState, busy_lock: str = "", site: Site = NOTHING) -> None:
        super().__init__(unit, want, busy_lock)
        self._site = site
        self.taken_over: dict[str, list[Change]] = {}
        """What the first read found, by path."""
        self._looked = False

    def read(self) -> DaemonState:
        """Read files and daemon. The first read also compares files of the site with the new ones."""
        state = super().read()
        stale = frozenset(path for path in self._site.stale if is_foreign(text_of(path)))
        found = dict(self._changes(state, stale))
        if not self._looked:
            self.taken_over, self._looked = found, True
        return replace(state, changes=found, stale=stale)

    def compares(self, path: str) -> bool:
        """Whether a file at this path may hold the site's own lines."""
        return environment.is_environment(path)

    def changes(self, path: str, old: str, new: str) -> list[Change]:
        """What becomes of each line of the site's file `old`."""
        return environment.changes(path, old, new)

    def hides(self, path: str, content: str) -> bool:
        """Whether the file may hold passwords."""
        del path
        return is_foreign(content)

    def _changes(self, state: DaemonState, stale: Collection[str]) -> list[tuple[str, list[Change]]]:
        """What becomes of the site's files. A host without a slurm.conf reads nothing beside where that was."""
        foreign = [
            (path, entry.content or "", self._want.files[path].content or "")
            for path, entry in state.files.items()
            if self.compares(path) and is_foreign(entry.content or "")
        ]
        beside = {f"{PurePath(path).parent}/{name}" for path in stale for name in environment.FETCHED}
        return [
            *((path, found) for path, old, new in foreign if (found := self.changes(path, old, new))),
            *((path, [environment.unread(path)]) for path in sorted(beside) if environment.says_more(text_of(path))),
        ]

    def _read(self, path: str) -> Entry | None:
        entry = super()._read(path)
        content = (entry.content if entry else "") or ""
        if entry is None or not self.compares(path) or not self.hides(path, content):
            return entry
        return replace(entry, content=secret_text.hidden(content, self._site.secrets))

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        """Copy or move the site's files; do the other steps in between."""
        for step in steps:
            verb, path = step.payload
            if verb == "copy":
                self._copy([*self.taken_over])
            elif verb == "move":
                self._copy([path])
                files.remove(path)
            elif verb == "write" and secret_text.HIDDEN in (self._want.files[path].content or ""):
                entry = self._want.files[path]
                files.write(path, replace(entry, content=secret_text.revealed(entry.content or "", self._site.secrets)))
            else:
                super().apply([step])

    def _copy(self, paths: Sequence[str]) -> None:
        """Keep the first copy of each file; only root reads it, because it may hold a password."""
        files.write(self._site.copies, Entry(None, "0700"))
        for path in paths:
            entry, copy = files.read(path), f"{self._site.copies}{path}"
            if entry and entry.content is not None and not files.read(copy):
                files.write(copy, replace(entry, owner="root", group="root", mode="0600"))


def text_of(path: str) -> str:
    """The text of a file; empty if it is missing or can't be read."""
    try:
        entry = files.read(path)
    except DeviceError:
        return ""
    return (entry.content if entry else "") or ""
