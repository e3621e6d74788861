# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Directories of this host's shared file systems."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from ...core.converge import DeviceError, Step
from .model import Directory
from .plan import OTHER, Directories, Owned, above, wanted


class Folders:
    """The directories, and those above them."""

    name = "directories"

    def __init__(self, directories: Sequence[Directory], mounts: Callable[[], str]) -> None:
        """`mounts` is the text of /proc/self/mountinfo."""
        self._directories, self._mounts = directories, mounts

    def read(self) -> Directories:
        """All of them. Raises DeviceError for a file system that is not mounted: its mount point is another one's."""
        mounted = {line.split()[4] for line in self._mounts().splitlines() if line.strip()}
        if missing := sorted({each.mount for each in self._directories} - mounted):
            raise DeviceError(f"{', '.join(missing)} is not mounted on this host; mount it, and run this again")
        paths = [path for each in self._directories for path in (*above(each), each.path)]
        found = {path: owned for path in dict.fromkeys(paths) if (owned := _owned(path))}
        goals = [wanted(each) for each in self._directories]
        unknown = {f"user {it.owner}" for it in goals if _uid(it.owner) is None}
        unknown |= {f"group {it.group}" for it in goals if _gid(it.group) is None}
        return Directories(found, frozenset(unknown))

    def apply(self, steps: Sequence[Step[Directories]]) -> None:
        """Make and change them. A new one is root's alone until it has its owner."""
        for step in steps:
            path, goal = step.payload
            try:
                _make(path, goal)
            except OSError as err:
                squash = "; the server may map root to another user" if isinstance(err, PermissionError) else ""
                raise DeviceError(f"{path}: {err.strerror}{squash}") from err


def _make(path: str, goal: Owned) -> None:
    uid, gid = _uid(goal.owner), _gid(goal.group)
    if uid is None or gid is None:
        raise DeviceError(f"{path}: this host knows no {goal.owner}:{goal.group}")
    with contextlib.suppress(FileExistsError):
        Path(path).mkdir(0o700)
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # chown may take the set-group-ID bit away, so the mode is set after it
        os.fchown(handle, uid, gid)
        os.fchmod(handle, int(goal.mode, 8))
    finally:
        os.close(handle)


def _owned(path: str) -> Owned | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as err:
        raise DeviceError(f"{path}: {err.strerror}") from err
    if not stat.S_ISDIR(found.st_mode):
        return Owned(OTHER, OTHER, "0000")
    return Owned(_user(found.st_uid), _group(found.st_gid), f"{stat.S_IMODE(found.st_mode):04o}")


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _uid(name: str) -> int | None:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def _gid(name: str) -> int | None:
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        return None
