# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes that use a file system, so that a refused unmount can name them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

PROC = Path("/proc")
MOST_NAMED = 3
SYSTEM = frozenset({"systemd"})


def named_users(path: str, but: Collection[str] = SYSTEM) -> str:
    """The processes that use a mount point, as a few words; empty for none that can be seen. `but` are not named."""
    found = [f"{name} ({pid})" for pid, name in _users(PROC, path) if name not in but]
    more = f" and {len(found) - MOST_NAMED} others" if len(found) > MOST_NAMED else ""
    return f"{', '.join(found[:MOST_NAMED])}{more} use it" if found else ""


def _users(proc: Path, path: str) -> Iterator[tuple[str, str]]:
    """Number and name of processes with a working directory, root or open file below a path."""
    for folder in sorted(proc.glob("[0-9]*"), key=lambda it: int(it.name)):
        links: Sequence[Path] = (folder / "cwd", folder / "root", *_open_files(folder))
        if any(_below(link, path) for link in links):
            yield folder.name, _name(folder)


def _open_files(folder: Path) -> list[Path]:
    try:
        return list((folder / "fd").iterdir())
    except OSError:
        return []


def _below(link: Path, path: str) -> bool:
    try:
        target = str(link.readlink())
    except OSError:
        return False
    return target == path or target.startswith(f"{path}/")


def _name(folder: Path) -> str:
    try:
        return (folder / "comm").read_text(errors="replace").strip()
    except OSError:
        return "a process"
