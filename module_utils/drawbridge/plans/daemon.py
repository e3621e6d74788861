# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon and the files that it reads: written, enabled, running, and running with these files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..converge import Step
from ..dialects.entry import Entry


@dataclass(frozen=True)
class DaemonState:
    """A unit with its files; a path without entry does not exist."""

    unit: str
    files: Mapping[str, Entry]
    enabled: bool = True
    active: bool = True
    current: bool = True
    """The running daemon has loaded what its files say now."""
    passive: frozenset[str] = field(default=frozenset(), compare=False)
    """Files that it reads anew each time, so that a change needs no refresh."""
    busy: str = field(default="", compare=False)
    """Why it may not be refreshed now; empty if it may."""

    def read_once(self) -> list[str]:
        """Files that the daemon reads when it starts or is refreshed, and only then."""
        return [path for path, entry in self.files.items() if path not in self.passive and entry.content is not None]

    def lines(self) -> list[str]:
        """Files in order of their paths, then one line about the unit."""
        state = ["enabled" if self.enabled else "disabled", "running" if self.active else "stopped"]
        if self.active and not self.current:
            state.append("with older files")
        texts = [line for path, entry in sorted(self.files.items()) for line in entry.lines(path)]
        return [*texts, f"{self.unit} {' '.join(state)}"]


def plan(have: DaemonState, want: DaemonState, refresh: str = "restart") -> list[Step[DaemonState]]:
    """Files first and in the order of `want`, since a daemon that starts reads them all; then the unit.

    `refresh` is the verb for a running daemon that must read its files again. While `have.busy`, a change that needs
    a refresh is pending as a whole: files that the daemon has not read would mislead every client that reads them.
    """
    changed = [path for path, entry in want.files.items() if have.files.get(path) != entry]
    active_files = [path for path in changed if path in want.read_once()]
    stale = have.active and (bool(active_files) or not have.current)
    held = have.busy if stale else ""
    steps = [_write(path, want.files[path], path in active_files, held) for path in changed]
    if not have.enabled:
        steps.append(Step(f"enable {want.unit}", lambda state: replace(state, enabled=True), ("enable", "")))
    if not have.active:
        reason = f"start {want.unit}"
        steps.append(Step(reason, lambda state: replace(state, active=True, current=True), ("start", "")))
    elif stale:
        reason = f"{refresh} {want.unit}, which runs with older files"
        steps.append(Step(reason, lambda state: replace(state, current=True), ("refresh", ""), held))
    return steps


def _write(path: str, entry: Entry, read_once: bool, held: str) -> Step[DaemonState]:
    def becomes(state: DaemonState) -> DaemonState:
        return replace(state, files={**state.files, path: entry}, current=state.current and not read_once)

    verb = "make directory" if entry.content is None else "write"
    return Step(f"{verb} {path}", becomes, ("write", path), held if read_once else "")
