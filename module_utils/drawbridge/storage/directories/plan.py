# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From directories as they are to their owners and modes. Their content is never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from ...core.converge import Step
from .model import Directory

ROOT = "root"


@dataclass(frozen=True)
class Owned:
    """Owner, group and mode; the names of this host, or numbers that it has no names for."""

    owner: str
    group: str
    mode: str

    def __str__(self) -> str:
        """Return it as `ls -ld` orders it."""
        return f"{self.mode} {self.owner}:{self.group}"


CLOSED = Owned(ROOT, ROOT, "0500")
PARENT = Owned(ROOT, ROOT, "0755")
OTHER = "something else"
"""The owner of a path that is a link or a file."""


@dataclass(frozen=True)
class Directories:
    """Directories by path, with those above them."""

    found: Mapping[str, Owned]
    unknown: frozenset[str] = field(default=frozenset(), compare=False)
    """Wanted users and groups that this host does not know, as `user ada` and `group vision`."""

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
    parents = [path for each in directories for path in (above(each) if each.make else [])]
    for path in dict.fromkeys(parents):
        steps += _parent(path, have.found.get(path))
    for each in directories:
        steps += _directory(each, have)
    return steps


def _parent(path: str, found: Owned | None) -> list[Step[Directories]]:
    if found is None:
        return [_make(path, PARENT)]
    if found.owner == OTHER:
        return [_refused(path, f"{path} is no directory; move it away")]
    if found.owner != ROOT or int(found.mode, 8) & 0o022:
        why = f"{path} is {found}, so others could replace directories of projects; run chown root {path}, chmod go-w"
        return [_refused(path, f"{why} {path}")]
    return []


def _directory(each: Directory, have: Directories) -> list[Step[Directories]]:
    found, goal = have.found.get(each.path), wanted(each)
    if found == goal:
        return []
    if found is None:
        lacking = "" if each.make else "it is not there yet"
        return [replace(_make(each.path, goal), pending=_unknown(goal, have) or lacking)]
    if found.owner == OTHER:
        return [_refused(each.path, f"{each.path} is no directory; move it away")]
    step = _set(each.path, goal, f"{'close' if each.closed else 'set'} {each.path}: {goal} instead of {found}")
    return [replace(step, pending=_unknown(goal, have))]


def _unknown(goal: Owned, have: Directories) -> str:
    names = [it for it in (f"user {goal.owner}", f"group {goal.group}") if it in have.unknown]
    return f"this host knows no {' and no '.join(names)}" if names else ""


def _make(path: str, goal: Owned) -> Step[Directories]:
    return _set(path, goal, f"make {path}: {goal}")


def _set(path: str, goal: Owned, reason: str) -> Step[Directories]:
    def becomes(state: Directories) -> Directories:
        return replace(state, found={**state.found, path: goal})

    return Step(reason, becomes, (path, goal), about=path)


def _refused(path: str, why: str) -> Step[Directories]:
    return Step(f"use {path}", lambda state: state, refused=why)
