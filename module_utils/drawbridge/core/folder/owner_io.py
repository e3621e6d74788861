# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a folder is its caller's alone: another user's files would be shown, removed, or applied to a cluster."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

from ..converge import DeviceError

REPAIR = "name a folder of your own, as below your home directory"


def require_own(folder: Path, inside: list[str]) -> None:
    """Refuse a folder that others may write, or replace; also paths `inside` that lead out of it. Raises DeviceError.

    What does not exist yet is made by the caller.
    """
    for place in dict.fromkeys((folder, folder.resolve())):
        for path in reversed([place, *place.parents]):
            if why := _others(path, above=path != place):
                raise DeviceError(f"{path} {why}: {REPAIR}")
    for path in inside:
        for place in reversed([folder / path, *list((folder / path).parents)[: len(Path(path).parts) - 1]]):
            if place.is_symlink():
                raise DeviceError(f"{place} is a symbolic link, which may lead elsewhere: remove it")
            if place.is_dir() and (why := _others(place, above=False)):
                raise DeviceError(f"{place} {why}: {REPAIR}")


def _others(path: Path, above: bool) -> str:
    """Why other users control a path, or a link there, but not its target; "" if they don't.

    In a folder `above` that all may write, as /tmp, the sticky bit keeps them from replacing what others own.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return ""
    link = stat.S_ISLNK(found.st_mode)
    if found.st_uid not in ((os.geteuid(), 0) if above or link else (os.geteuid(),)):
        return f"belongs to {_name(found.st_uid)}"
    if link:
        return ""
    writable = found.st_mode & (stat.S_IWOTH | (0 if _private(found.st_gid) else stat.S_IWGRP))
    return "can be written by others" if writable and not (above and found.st_mode & stat.S_ISVTX) else ""


def _private(gid: int) -> bool:
    """Whether a group has no member but the caller, as users' own groups."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and not set(group.gr_mem) - {user.pw_name}


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
