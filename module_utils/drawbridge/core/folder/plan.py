# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the files that a folder of ours has to those that it should have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..converge import Step


@dataclass(frozen=True)
class FolderState:
    """Text of files by their paths below the folder; those of others are not there."""

    files: Mapping[str, str]

    def lines(self) -> list[str]:
        """Files in order of their paths."""
        return [line for path, text in sorted(self.files.items()) for line in (path, *_indented(text))]


def plan(have: FolderState, want: FolderState) -> list[Step[FolderState]]:
    """Write what differs, then remove what an earlier run wrote and this one would not."""
    differing = [path for path, text in want.files.items() if have.files.get(path) != text]
    steps = [_write(path, want.files[path]) for path in differing]
    return [*steps, *(_remove(path) for path in have.files if path not in want.files)]


def _write(path: str, text: str) -> Step[FolderState]:
    return Step(f"write {path}", lambda state: replace(state, files={**state.files, path: text}), (path, text))


def _remove(path: str) -> Step[FolderState]:
    def becomes(state: FolderState) -> FolderState:
        return FolderState({name: text for name, text in state.files.items() if name != path})

    return Step(f"remove {path}", becomes, (path, None))


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]
