# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes of this host, from /proc: those that hold a GPU's device file, their owners and containers.

A process chooses its own name, which may contain a line break: names are shown and never parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

PROC = Path("/proc")
GPU = re.compile(r"/dev/nvidia[0-9]+")
FIRST_USER = 1000
"""UIDs below belong to system users (UID_MIN of login.defs)."""


def holders() -> dict[int, str]:
    """Processes that have a GPU's device file open, with their names. Reads links, opens no file."""
    found = {}
    for place in PROC.iterdir():
        if place.name.isdigit() and any(GPU.fullmatch(target) for target in _open_files(place)):
            found[int(place.name)] = name(int(place.name))
    return found


def _open_files(place: Path) -> Iterator[str]:
    try:
        links = list((place / "fd").iterdir())
    except OSError:
        return  # it has ended
    for link in links:
        try:
            yield str(link.readlink())
        except OSError:
            continue


def name(pid: int) -> str:
    """A process's own name, made printable."""
    try:
        said = (PROC / str(pid) / "comm").read_text(errors="replace").rstrip("\n")
    except OSError:
        return "ended"
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
    try:
        text = (PROC / str(pid) / "cgroup").read_text()
    except OSError:
        return set()
    return set(re.findall(r"[0-9a-f]{64}", text))


def _ancestors(pid: int) -> Iterator[int]:
    seen: set[int] = set()
    while pid > 1 and pid not in seen:
        seen.add(pid)
        yield pid
        pid = int(_status(pid).get("PPid", "0"))


def _status(pid: int) -> dict[str, str]:
    try:
        lines = (PROC / str(pid) / "status").read_text(errors="replace").splitlines()
    except OSError:
        return {}
    # Name is the first line, and the kernel escapes its line breaks; the first line of each key counts
    return {key: value.strip() for key, _sep, value in (line.partition(":") for line in reversed(lines))}
