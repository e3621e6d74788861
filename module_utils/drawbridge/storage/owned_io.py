# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Owner, group and mode of directories, read and set on this host. No link is followed."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
from collections.abc import Callable
from pathlib import Path

from ..core.converge import DeviceError
from .owned import OTHER, Owned


def seen(path: str, wanted: Owned) -> Owned | None:
    """A path with the wanted names where the numbers are theirs, else with names of this host; None: it is missing.

    OTHER for a link or a file. Raises DeviceError.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as err:
        raise DeviceError(f"{path} can't be read: {err.strerror}") from err
    if not stat.S_ISDIR(found.st_mode):
        return OTHER
    return Owned(
        _name(found.st_uid, wanted.owner, _uid, lambda: pwd.getpwuid(found.st_uid).pw_name),
        _name(found.st_gid, wanted.group, _gid, lambda: grp.getgrgid(found.st_gid).gr_name),
        f"{stat.S_IMODE(found.st_mode):04o}",
    )


def make(path: str, owned: Owned) -> None:
    """Make a directory, which is root's alone until it has its owner. Raises DeviceError."""
    try:
        with contextlib.suppress(FileExistsError):
            Path(path).mkdir(0o700)
    except OSError as err:
        raise DeviceError(f"{path} can't be made: {err.strerror}") from err
    give(path, owned)


def give(path: str, owned: Owned) -> None:
    """Set owner, group and mode of a directory. Raises DeviceError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            # chown may take the set-group-ID bit away, so the mode is set after it
            os.fchown(handle, _uid(owned.owner), _gid(owned.group))
            os.fchmod(handle, int(owned.mode, 8))
        finally:
            os.close(handle)
    except KeyError as err:
        raise DeviceError(f"{path} can't be given to {owned}: a name has no number on this host") from err
    except OSError as err:
        squash = "; the file system may map root to another user" if isinstance(err, PermissionError) else ""
        raise DeviceError(f"{path} can't be given to {owned}: {err.strerror}{squash}") from err


def unknown_names(owned: Owned) -> str:
    """Why an owner or a group has no number on this host; empty if both have one."""
    for kind, database, name, look in (("user", "passwd", owned.owner, _uid), ("group", "group", owned.group, _gid)):
        try:
            look(name)
        except KeyError:
            return f"{kind} {name} is unknown on this host; look at `getent {database} {name}`"
    return ""


def _uid(name: str) -> int:
    return int(name) if name.isdigit() else pwd.getpwnam(name).pw_uid


def _gid(name: str) -> int:
    return int(name) if name.isdigit() else grp.getgrnam(name).gr_gid


def _name(number: int, wanted: str, number_of_name: Callable[[str], int], look: Callable[[], str]) -> str:
    try:
        if number_of_name(wanted) == number:
            return wanted
    except KeyError:
        pass
    try:
        return look()
    except KeyError:
        return str(number)
