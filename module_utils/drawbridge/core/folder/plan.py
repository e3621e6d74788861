# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of a folder: files to write, and files of an earlier run to remove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..converge import Step


@dataclass(frozen=True)
class FolderState:
    """Text of Drawbridge's files by their paths below the folder."""

    files: Mapping[str, str]

    def lines(self) -> list[str]:
        return [line for path, text in sorted(self.files.items()) for line in (path, *_indented(text))]


def plan(have: FolderState, want: FolderState) -> list[Step[FolderState]]:
    """Write files that differ, then remove files of an earlier run that are no longer wanted."""
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
