# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files and directories of this host: read with owner and mode, replaced atomically."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

from .converge import DeviceError
from .file_entry import Entry


def read(path: str) -> Entry | None:
    """The file or directory at `path`, None if it does not exist. Raises DeviceError for other kinds of file."""
    place = Path(path)
    try:
        found = place.lstat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise DeviceError(f"{path} is neither a file nor a directory; move it away")
        content = None if stat.S_ISDIR(found.st_mode) else read_own(place)[0]
    except FileNotFoundError:
        return None
    except OSError as err:
        raise DeviceError(f"{path} can't be read: {err.strerror}") from err
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    return Entry(content, mode, _user(found.st_uid), _group(found.st_gid))


def read_own(path: Path) -> tuple[str, os.stat_result]:
    """Content and status of a file; a symbolic link in its place is an error. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, errors="surrogateescape") as file:
        return file.read(), os.fstat(handle)


def write(path: str, entry: Entry) -> None:
    """Write `entry` to `path`; a file is replaced atomically. Raises DeviceError."""
    try:
        uid, gid = pwd.getpwnam(entry.owner).pw_uid, grp.getgrnam(entry.group).gr_gid
    except KeyError as err:
        raise DeviceError(f"{path} can't be given to {entry.owner}:{entry.group}: {err.args[0]}") from err
    try:
        if entry.content is None:
            Path(path).mkdir(parents=True, exist_ok=True)
            os.chown(path, uid, gid)
            Path(path).chmod(int(entry.mode, 8))
        else:
            write_bytes(Path(path), entry.content.encode(errors="surrogateescape"), int(entry.mode, 8), (uid, gid))
    except OSError as err:
        raise DeviceError(f"{path} can't be written: {err.strerror}") from err


def remove(path: str) -> None:
    """Remove a file if it exists."""
    Path(path).unlink(missing_ok=True)


def changed_s(path: str) -> float:
    """When the file, its owner or its mode last changed, in seconds since the epoch; 0 if the file is missing."""
    try:
        return Path(path).stat().st_ctime
    except FileNotFoundError:
        return 0.0


def write_bytes(path: Path, content: bytes, mode: int, ids: tuple[int, int]) -> None:
    """Replace a file; `ids` are its owner and group. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # always the same name, so that the next run replaces what a killed run left
    temporary = path.with_name(f".{path.name}.drawbridge")
    temporary.unlink(missing_ok=True)
    # other users must not read it before its mode is set either
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchown(handle, *ids)
            os.fchmod(handle, mode)
            file.flush()
            os.fsync(handle)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
