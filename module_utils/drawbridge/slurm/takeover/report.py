# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lines of files that Drawbridge takes over, in groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Callable

from .model import DROPPED, KEPT, OURS, Change

TITLES = {
    OURS: "ours: set by Drawbridge",
    KEPT: "kept: the intent has them",
    DROPPED: "dropped: the intent lacks them",
}
Files = Mapping[str, Sequence[Change]]
"""Changes by path."""
Suggest = Callable[[Sequence[Change]], str]
"""Dropped lines -> YAML of the intent that keeps them."""


def nothing(found: Sequence[Change]) -> str:
    """No key keeps lines of a unit's environment, which is all that compute nodes compare."""
    del found
    return ""


def dropped(files: Files) -> list[Change]:
    """All lines that vanish or lose their value."""
    return [change for found in files.values() for change in found if change.group == DROPPED]


def counted(files: Files) -> str:
    """How many lines each group has."""
    every = [change.group for found in files.values() for change in found]
    return f"set {every.count(OURS)} lines, keep {every.count(KEPT)}, drop {every.count(DROPPED)}"


def text(files: Files, suggest: Suggest = nothing) -> str:
    """All lines in their groups, file by file, then the keys that would keep the dropped ones."""
    parts = [line for path, found in files.items() for line in (path, *_groups(found))]
    if more := suggest(dropped(files)):
        parts += ["to keep dropped lines, add to the intent:", *(f"    {line}" for line in more.splitlines())]
    return "".join(f"{line}\n" for line in parts)


def with_refusal(error: str, files: Files, may_drop: bool, suggest: Suggest = nothing) -> str:
    """The error; all lines follow if it is that lines would be dropped."""
    return f"{error}\n{text(files, suggest)}" if error and dropped(files) and not may_drop else error


def _groups(found: Sequence[Change]) -> Iterator[str]:
    for group, title in TITLES.items():
        if members := [change for change in found if change.group == group]:
            yield f"    {title}"
            yield from (f"        {line}" for change in members for line in _lines(change))


def _lines(change: Change) -> Iterator[str]:
    note = change.note or (f"drawbridge_slurm.{'.'.join(change.keep)}" if change.keep else "")
    why = f"   # {note}" if note else ""
    if change.group == KEPT:
        yield f"  {change.old}{why}"
    else:
        yield from (f"- {change.old}{why}",) if change.old else ()
        yield from (f"+ {change.new}{'' if change.old else why}",) if change.new else ()
