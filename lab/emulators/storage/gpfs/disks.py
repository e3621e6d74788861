# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the files of filesets lie, and the process of a lab that mounts them for all of its hosts.

In a lab each fileset is a tmpfs, so that writes beyond its limits fail. A process (disk_server.py) mounts it in the
lab's own mount namespace, below the folder that hosts share. That folder's mount is shared (mount_namespaces(7)). So
all hosts get each junction, also below a /gpfs/fs1 that they mounted before, and the kernel knows of users on any host.

Tests without that process get plain folders: the same names and rights, and no limits.

Unlike GPFS: a write beyond a block limit fails with ENOSPC instead of EDQUOT, and root is not exempt. Both need quotas
of a file system's projects, which many kernels are built without.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...common import shared_directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SOCKET = "disks.sock"
NO_LIMIT = {"bytes": 1 << 50, "inodes": 1 << 40}
"""A tmpfs without any limit could not say how much of it is used."""
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}


class Trouble(Exception):
    """An order can't be carried out; the argument says why."""


class Usage(NamedTuple):
    """What a fileset's files take: KiB and number, its root directory counted."""

    kib: int
    files: int


class Disks:
    """The files of one file system."""

    def __init__(self, content: str, *, pretend: bool = False) -> None:
        """Take the file system's folder in `fs` of the shared folder; with `pretend` orders are not carried out."""
        self.content = content
        self.pretend = pretend
        self.root = shared_directory() / "fs" / content
        self.hidden = shared_directory() / "filesets" / content

    def order(self, what: str, number: int, **details: Any) -> None:
        """Let the lab's process carry out an order on a fileset, or do it here; raises Trouble.

        Orders are make, link and unlink (junction, below the file system's root), empty, drop, limit (bytes, inodes).
        """
        if self.pretend:
            return
        order = {"do": what, "content": self.content, "number": number, **details}
        answer = _ask(shared_directory(), order)
        if answer is None:
            carry_out(shared_directory(), order, mounting=False)
        elif answer:
            raise Trouble(answer)

    def place(self, number: int, junction: str | None) -> Path:
        """Return the folder in which the files of a fileset are now; a junction of None: it is not linked."""
        hidden = self.hidden / str(number)
        return hidden if number and (junction is None or hidden.is_dir()) else self.root / (junction or "")

    def usage(self, number: int, junction: str | None, others: Iterable[str]) -> Usage:
        """Return what a fileset's files take, without those of filesets at the `others` junctions."""
        place = self.place(number, junction)
        if number and os.path.ismount(place):
            seen = os.statvfs(place)
            return Usage((seen.f_blocks - seen.f_bfree) * seen.f_frsize >> 10, seen.f_files - seen.f_ffree)
        files = list(self.files(number, junction, others))
        return Usage(sum(kib for _, _, kib in files), len(files))

    def files(self, number: int, junction: str | None, others: Iterable[str]) -> Iterator[tuple[int, int, int]]:
        """Yield uid, gid and KiB of each file, those of a hard link once; a directory takes nothing but its inode."""
        place = self.place(number, junction)
        elsewhere, seen = {str(self.root / other) for other in others}, set()
        device = place.stat().st_dev if place.exists() else 0
        for folder, folders, names in os.walk(place):
            folders[:] = [name for name in folders if f"{folder}/{name}" not in elsewhere]
            for path in [folder, *(f"{folder}/{name}" for name in names)]:
                with contextlib.suppress(OSError):  # another host may have removed it
                    found = os.lstat(path)
                    if found.st_dev == device and found.st_ino not in seen:
                        seen.add(found.st_ino)
                        yield found.st_uid, found.st_gid, 0 if path == folder else found.st_blocks // 2


def _ask(shared: Path, order: dict[str, Any]) -> str | None:
    """Return the trouble that the lab's process has with an order, "" for none; None when there is no such process."""
    handle = os.open(shared, os.O_PATH) if shared.is_dir() else None
    if handle is None:
        return None
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"/proc/self/fd/{handle}/{SOCKET}")  # a socket's own path may have 107 characters only
            client.sendall(json.dumps(order).encode() + b"\n")
            with client.makefile() as answer:
                return str(json.loads(answer.readline()))
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    finally:
        os.close(handle)


def carry_out(shared: Path, order: dict[str, Any], *, mounting: bool) -> None:
    """Carry out one order, with mounts or with plain folders."""
    hidden = shared / "filesets" / order["content"] / str(order["number"])
    junction = shared / "fs" / order["content"] / order.get("junction", "")
    if order["do"] == "make":
        hidden.mkdir(parents=True)
        hidden.chmod(0o700)
        if mounting:
            _run("mount", "-t", "tmpfs", "-o", f"mode=0700,{_limits(NO_LIMIT)}", f"gpfs-{order['content']}", hidden)
    elif order["do"] == "link":
        _link(hidden, junction, mounting)
    elif order["do"] == "unlink":
        _unlink(hidden, junction, mounting, order["force"])
    elif order["do"] == "limit" and mounting:
        _limit(hidden, order)
    elif order["do"] in ("empty", "drop"):
        for path in hidden.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if order["do"] == "drop":
            if mounting:
                _run("umount", hidden)
            hidden.rmdir()


def _link(hidden: Path, junction: Path, mounting: bool) -> None:
    junction.mkdir()
    if mounting:
        _run("mount", "--bind", hidden, junction)
    else:
        hidden.replace(junction)


def _unlink(hidden: Path, junction: Path, mounting: bool, force: bool) -> None:
    if mounting:
        _run("umount", *(["--lazy"] if force else []), junction)
        junction.rmdir()
        return
    if not force and any(_in_use(junction)):
        raise Trouble(f"{junction} is busy")
    junction.replace(hidden)


def _in_use(folder: Path) -> Iterator[str]:
    """Yield what processes have open at and below a folder."""
    for link in (*Path("/proc").glob("[0-9]*/cwd"), *Path("/proc").glob("[0-9]*/fd/*")):
        with contextlib.suppress(OSError):
            target = str(link.readlink()) if sys.version_info >= (3, 9) else ""
            if f"{target}/".startswith(f"{folder}/"):
                yield target


def _limit(hidden: Path, order: dict[str, Any]) -> None:
    """Set a tmpfs' limits. Files above a limit stay, and nothing can be added to them."""
    used = os.statvfs(hidden)
    limits = {
        "bytes": max(order["bytes"] or NO_LIMIT["bytes"], (used.f_blocks - used.f_bfree) * used.f_frsize or 4096),
        "inodes": max(order["inodes"] or NO_LIMIT["inodes"], used.f_files - used.f_ffree),
    }
    _run("mount", "-o", f"remount,{_limits(limits)}", hidden)


def _limits(limits: dict[str, int]) -> str:
    return f"size={limits['bytes']},nr_inodes={limits['inodes']}"


def bind_missing(content: Path, path: str) -> None:
    """Bind the filesets of a file system below a mount of it which has lost them to a failed unmount."""
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for source in sorted(place for place in mounted if place.startswith(f"{content}/")):
        target = path + source[len(str(content)) :]
        if target not in mounted:
            _run("mount", "--bind", source, target)
    _run("mount", "--make-rslave", path)


def _run(*command: object) -> None:
    argv = [str(word) for word in command]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if done.returncode:
        raise Trouble(done.stderr.strip())
