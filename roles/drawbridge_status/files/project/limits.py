# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of a project beside their limits: budget, space and files. Pure."""

from __future__ import annotations

from typing import NamedTuple

from ..budget.words import HOURS
from ..budget.words import hours as in_words
from .model import GIB, Seen

UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")
LESS, MORE = 1, 5
"""Percent by which the size that a file system shows may differ from a quota: it rounds to blocks and inode steps."""
BUDGETS = {"gres/gpu": "gpu_hours", "cpu": "cpu_hours", "node": "node_hours"}
ELSEWHERE = "df shows the whole file system there, not the quota, so its use is not known"


class Part(NamedTuple):
    """Something with a limit."""

    name: str
    """Such as GPU hours, space or files."""
    limit: int
    """Minutes, bytes or files."""
    used: int | None = None
    """None: not known."""
    running: int = 0
    """Minutes that running jobs may still use."""

    @property
    def percent(self) -> float | None:
        """The used part; None if it is not known."""
        if self.used is None:
            return None
        return 100 * self.used / self.limit if self.limit else 100.0

    @property
    def full(self) -> bool:
        """Whether nothing is left."""
        return self.used is not None and self.used >= self.limit

    @property
    def text(self) -> str:
        """Such as 0.9 of 1 TiB (90 %)."""
        write = in_words if self.name in HOURS.values() else size if self.name == SPACE else count
        limit = write(self.limit)
        return f"? of {limit}" if self.used is None else f"{write(self.used)} of {limit} ({self.percent:.0f} %)"


SPACE, FILES = "space", "files"


def size(number: float) -> str:
    """Bytes in binary units, as quotas are set."""
    number /= 1024
    for unit in UNITS[:-1]:
        if number < 1023.5:
            return f"{_short(number)} {unit}"
        number /= 1024
    return f"{_short(number)} {UNITS[-1]}"


def _short(number: float) -> str:
    return f"{number:.3g}" if number < 999.5 else f"{number:.0f}"


def count(number: int) -> str:
    """A number of files: 950, 12.3 k, 4 M."""
    for unit, scale in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= scale:
            return f"{_short(number / scale)} {unit}"
    return str(number)


def budget(seen: Seen) -> list[Part]:
    """The resources that its budget limits. slurmctld has the limit in force; the site's file has it for others."""
    limits = seen.project.budget or {}
    shown = seen.usage.budget if seen.usage else {}
    found = []
    for resource, key in BUDGETS.items():
        own, declared = shown.get(resource), int(limits.get(key, -1))
        if own:
            found.append(Part(HOURS[resource], own.limit, own.used, own.running))
        elif declared >= 0:
            found.append(Part(HOURS[resource], declared * 60))
    return found


def space(seen: Seen) -> Part | None:
    """Its space; None without a limit."""
    own = seen.project.directory
    if not own or not own.quota_gib:
        return None
    limit, shown = own.quota_gib * GIB, seen.space
    return Part(SPACE, limit, shown.used if shown and _same(shown.total, limit) else None)


def files(seen: Seen) -> Part | None:
    """Its files; None without a limit."""
    own = seen.project.directory
    if not own or not own.inodes:
        return None
    shown = seen.space
    return Part(FILES, own.inodes, shown.files_used if shown and _same(shown.files, own.inodes) else None)


def _same(shown: int, limit: int) -> bool:
    return -LESS * limit <= 100 * (shown - limit) <= MORE * limit


def parts(seen: Seen) -> list[Part]:
    """All of them."""
    return [*budget(seen), *(it for it in (space(seen), files(seen)) if it)]


def elsewhere(seen: Seen) -> str:
    """Why space or files are not known although the directory answers; "" otherwise."""
    return ELSEWHERE if seen.space and any(it and it.used is None for it in (space(seen), files(seen))) else ""
