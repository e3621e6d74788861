# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of a daemon: its files are written, its unit is enabled and runs with these files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..converge import Step
from ..file_entry import Entry


@dataclass(frozen=True)
class DaemonState:
    """A unit with its files; a path without an entry does not exist."""

    unit: str
    files: Mapping[str, Entry]
    enabled: bool = True
    active: bool = True
    current: bool = True
    """The running daemon has loaded its files as they are now."""
    fresh: bool = True
    """It has started since the last change of the files that it loads only at its start."""
    starting: bool = field(default=False, compare=False)
    """Its start is still running; `current` and `fresh` describe that start."""
    passive: frozenset[str] = field(default=frozenset(), compare=False)
    """Files that it reads at each use, so that a change needs no refresh."""
    once: frozenset[str] = field(default=frozenset(), compare=False)
    """Directories that keep their owner and mode if they exist."""
    at_start: frozenset[str] = field(default=frozenset(), compare=False)
    """Files that it loads when it starts and at no refresh."""

    def read_once(self) -> list[str]:
        """Files that the daemon loads at a start or a refresh."""
        return [path for path in self._contents() if path not in self.passive | self.at_start]

    def read_at_start(self) -> list[str]:
        """Files that it loads at a start only."""
        return [path for path in self._contents() if path in self.at_start]

    def _contents(self) -> list[str]:
        return [path for path, entry in self.files.items() if entry.content is not None]

    def lines(self) -> list[str]:
        """Files in order of their paths, then one line about the unit."""
        state = ["enabled" if self.enabled else "disabled", "running" if self.active else "stopped"]
        if self.active and not (self.current and self.fresh):
            state.append("with older files")
        texts = [line for path, entry in sorted(self.files.items()) for line in entry.lines(path)]
        return [*texts, f"{self.unit} {' '.join(state)}"]


def plan(have: DaemonState, want: DaemonState, refresh: str = "restart") -> list[Step[DaemonState]]:
    """Write the files in the order of `want`, then act on the unit.

    `refresh` is the verb that makes a running daemon load its files again. Files that it loads only at its start need a
    restart. Such files wait together with the refresh or restart, because clients read them too and would not agree
    with the daemon.
    """
    changed = [path for path, entry in want.files.items() if have.files.get(path) != entry]
    again = [path for path in changed if path in want.read_once()]
    anew = [path for path in changed if path in want.read_at_start()]
    stale, old = bool(again) or not have.current, bool(anew) or not have.fresh
    disturbs = have.active and (stale or old)
    steps = [_write(path, want, disturbs and path in again + anew) for path in changed]
    if not have.enabled:
        steps.append(Step(f"enable {want.unit}", lambda state: replace(state, enabled=True), ("enable", "")))
    if not have.active:
        # systemd joins a start to the one that is running, which has loaded the older files
        late = have.starting and (stale or old)
        verb, why = ("restart", ", which is starting with older files") if late else ("start", "")
        steps.append(Step(f"{verb} {want.unit}{why}", _started, (verb, "")))
        return steps
    if stale:
        reason = f"{refresh} {want.unit}, which runs with older files"
        steps.append(Step(reason, lambda state: replace(state, current=True), ("refresh", ""), disturbs=True))
    # the refresh comes first: it also reaches the other daemons that use these files, which a restart does not
    if old:
        reason = f"restart {want.unit}, which started before {', '.join(want.read_at_start())} changed"
        steps.append(Step(reason, lambda state: replace(state, fresh=True), ("restart", ""), disturbs=True))
    return steps


def _started(state: DaemonState) -> DaemonState:
    return replace(state, active=True, current=True, fresh=True)


def _write(path: str, want: DaemonState, disturbs: bool) -> Step[DaemonState]:
    entry = want.files[path]

    def becomes(state: DaemonState) -> DaemonState:
        return replace(
            state,
            files={**state.files, path: entry},
            current=state.current and path not in want.read_once(),
            fresh=state.fresh and path not in want.read_at_start(),
        )

    verb = "make directory" if entry.content is None else "write"
    return Step(f"{verb} {path}", becomes, ("write", path), disturbs=disturbs)
