# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of files that no daemon reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..converge import Step
from ..file_entry import Entry


@dataclass(frozen=True)
class FilesState:
    """Files by path; a path without an entry does not exist."""

    files: Mapping[str, Entry]
    blocks: frozenset[str] = field(default=frozenset(), compare=False)
    """Paths of which only a block is Drawbridge's; their entries hold its lines."""

    def lines(self) -> list[str]:
        """Files in order of their paths."""
        return [line for path, entry in sorted(self.files.items()) for line in entry.lines(path)]


def plan(have: FilesState, want: FilesState) -> list[Step[FilesState]]:
    """Write files that differ, in the order of `want`."""
    return [_write(path, entry, want) for path, entry in want.files.items() if have.files.get(path) != entry]


def _write(path: str, entry: Entry, want: FilesState) -> Step[FilesState]:
    verb = "make directory" if entry.content is None else "write a block in" if path in want.blocks else "write"
    return Step(f"{verb} {path}", lambda state: replace(state, files={**state.files, path: entry}), path)
