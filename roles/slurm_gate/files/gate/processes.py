# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes of this host, from /proc: those that hold a GPU's device file, their owners and containers.

A process chooses its own name, which may contain a line break: names are shown and never parsed. A user also chooses
names of control groups in an own session, and under which path an own mount namespace shows a device.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
PODS = re.compile(r"[0-9]+:[^:]*:/kubepods(?:[.]slice)?/.*")
"""A control group of pods, below the root of a hierarchy. No user's session can have one there."""
MAY_HANG = re.compile(r"nfs4?|gpfs|lustre|cifs|smb3?|ceph|beegfs|9p|afs|autofs|fuse([.].*)?")
"""Types of file systems whose files are not looked at: their server, or a user's program, may never answer."""
FIRST_USER = 1000
"""UIDs below belong to system users (UID_MIN of login.defs)."""


class Gpus(NamedTuple):
    """How device files of GPUs are known."""

    name: re.Pattern[str]
    """Their paths."""
    major: int
    """Their device number."""
    minors_below: int
    """Files with this number from here on are no GPUs."""
    minors_from: int = 0
    """Files with a smaller number are no GPUs."""

    @classmethod
    def of(cls, devices: str, major: int, minors_below: int, minors_from: int = 0) -> Gpus:
        """Those of a vendor; `devices` is their path without a number."""
        return cls(re.compile(re.escape(devices) + "[0-9]+"), major, minors_below, minors_from)

    def has(self, number: int) -> bool:
        """Whether a device number is a GPU's."""
        return os.major(number) == self.major and self.minors_from <= os.minor(number) < self.minors_below


def holders(gpus: Gpus) -> dict[int, str]:
    """Processes that have a GPU's device file open, with their names. Opens no file."""
    found = {}
    for place in PROC.iterdir():
        if place.name.isdigit() and _holds_gpu(place, gpus):
            found[int(place.name)] = name(int(place.name))
    return found


def _holds_gpu(place: Path, gpus: Gpus) -> bool:
    """Whether a process has one open, by the name; of a user's process also by the device number."""
    files = dict(_open_files(place))
    if any(gpus.name.fullmatch(target) for target in files.values()):
        return True
    named = [link for link, target in files.items() if target.startswith("/")]
    if not named or _owner(int(place.name)) < FIRST_USER:
        return False
    remote = _remote_mounts(place)
    return any(_is_gpu(link, gpus) for link in named if _mount(place, link.name) not in remote)


def _open_files(place: Path) -> Iterator[tuple[Path, str]]:
    try:
        links = list((place / "fd").iterdir())
    except OSError:
        return  # it has ended
    for link in links:
        try:
            yield link, str(link.readlink())
        except OSError:
            continue


def _remote_mounts(place: Path) -> set[str]:
    """Numbers of the mounts in the process's own namespace whose files may hang."""
    rows = (line.partition(" - ") for line in _lines(place / "mountinfo"))
    return {row[0].split()[0] for row in rows if MAY_HANG.fullmatch(row[2].partition(" ")[0])}


def _mount(place: Path, number: str) -> str:
    """Number of the mount that an open file is on; "" if unknown."""
    found = (line.split() for line in _lines(place / "fdinfo" / number) if line.startswith("mnt_id:"))
    return next((words[1] for words in found), "")


def _is_gpu(link: Path, gpus: Gpus) -> bool:
    try:
        file = link.stat()
    except OSError:
        return False
    return stat.S_ISCHR(file.st_mode) and gpus.has(file.st_rdev)


def in_folder(folder: Path) -> list[int]:
    """Processes by the names of a folder's entries, which the kernel makes and removes. Raises OSError.

    A process has an entry from when it opens the driver, with or without a GPU's own device file.
    """
    return sorted(int(entry.name) for entry in folder.iterdir() if entry.name.isdigit())


def _lines(file: Path) -> list[str]:
    """Lines of a file of /proc; none if its process has ended."""
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []


def name(pid: int) -> str:
    """A process's own name, made printable; "" if it has ended."""
    try:
        said = (PROC / str(pid) / "comm").read_text(errors="replace").rstrip("\n")
    except OSError:
        return ""
    return "".join(letter if letter.isprintable() else "?" for letter in said)


def daemons(pids: Iterable[int], programs: Iterable[str]) -> list[int]:
    """The processes of system users that run one of these programs, whose file root must own."""
    known = set(programs)
    return [pid for pid in pids if known and _program(pid) in known and _owner(pid) < FIRST_USER]


def _program(pid: int) -> str:
    exe = PROC / str(pid) / "exe"
    try:
        return exe.readlink().name if exe.stat().st_uid == 0 else ""
    except OSError:
        return ""  # it has ended


def _owner(pid: int) -> int:
    """Its real UID, which a set-user-ID program keeps; FIRST_USER if unknown."""
    return int(_status(pid).get("Uid", str(FIRST_USER)).split()[0])


def of_containers(pids: Iterable[int], ids: Iterable[str], firsts: Iterable[int]) -> list[int]:
    """The processes in containers, by their control group's name or by a container's first process as ancestor."""
    known, first = set(ids), set(firsts)
    return [pid for pid in pids if _container(pid) & known or first & set(_ancestors(pid))]


def _container(pid: int) -> set[str]:
    groups = (line for line in _lines(PROC / str(pid) / "cgroup") if PODS.fullmatch(line))
    return {found for group in groups for found in re.findall(r"[0-9a-f]{64}", group)}


def _ancestors(pid: int) -> Iterator[int]:
    seen: set[int] = set()
    while pid > 1 and pid not in seen:
        seen.add(pid)
        yield pid
        pid = int(_status(pid).get("PPid", "0"))


def _status(pid: int) -> dict[str, str]:
    lines = _lines(PROC / str(pid) / "status")
    # Name is the first line, and the kernel escapes its line breaks; the first line of each key counts
    return {key: value.strip() for key, _sep, value in (line.partition(":") for line in reversed(lines))}
