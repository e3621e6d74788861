# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From directories as they are to their owners and modes. Their content is never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from types import MappingProxyType

from ...core.converge import Step
from ..owned import CLOSED, OTHER, PARENT, Owned, unsafe_parent
from .model import Directory


@dataclass(frozen=True)
class Directories:
    """Directories by path, with those above them."""

    found: Mapping[str, Owned]
    unknown: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    """Why the wanted owner or group of a path has no number on this host."""

    def lines(self) -> list[str]:
        """One line each."""
        return [f"{path} {owned}" for path, owned in sorted(self.found.items())]


def wanted(each: Directory) -> Owned:
    """What a directory should be."""
    return CLOSED if each.closed else Owned(each.owner, each.group, each.mode.rjust(4, "0"))


def above(each: Directory) -> list[str]:
    """The folders between the mount point and the directory, outer ones first."""
    mount = PurePosixPath(each.mount)
    return [str(it) for it in reversed(PurePosixPath(each.path).parents) if mount in it.parents]


def plan(have: Directories, want: Directories, directories: Sequence[Directory] = ()) -> list[Step[Directories]]:
    """Folders above come first. What a person must look at is refused, and others' steps wait with it."""
    steps: list[Step[Directories]] = []
    for path in dict.fromkeys(path for each in directories for path in above(each)):
        steps += _parent(path, have.found.get(path))
    for each in directories:
        steps += _directory(each, have)
    return steps


def _parent(path: str, found: Owned | None) -> list[Step[Directories]]:
    if found is None:
        return [_make(path, PARENT)]
    why = unsafe_parent(path, found)
    return [_refused(path, why)] if why else []


def _directory(each: Directory, have: Directories) -> list[Step[Directories]]:
    found, goal = have.found.get(each.path), wanted(each)
    if found == goal:
        return []
    if found is None:
        return [replace(_make(each.path, goal), pending=have.unknown.get(each.path, ""))]
    if found == OTHER:
        return [_refused(each.path, f"{each.path} is no directory; move it away")]
    step = _set(each.path, goal, f"{'close' if each.closed else 'set'} {each.path}: {goal} instead of {found}")
    return [replace(step, pending=have.unknown.get(each.path, ""))]


def _make(path: str, goal: Owned) -> Step[Directories]:
    return _set(path, goal, f"make {path}: {goal}")


def _set(path: str, goal: Owned, reason: str) -> Step[Directories]:
    def becomes(state: Directories) -> Directories:
        return replace(state, found={**state.found, path: goal})

    return Step(reason, becomes, (path, goal), about=path)


def _refused(path: str, why: str) -> Step[Directories]:
    return Step(f"use {path}", lambda state: state, refused=why)
