# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How items are divided into tests: groups, halves, and rings that pass each pair of units once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def parts(items: Sequence[Item], count: int) -> list[list[Item]]:
    """The items in order, in `count` groups whose sizes differ by at most one. Empty groups are left out."""
    edges = [len(items) * number // count for number in range(count + 1)]
    return [list(items[start:end]) for start, end in zip(edges, edges[1:]) if end > start]


def halves(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """The first half, which is the larger one, and the second."""
    middle = (len(items) + 1) // 2
    return list(items[:middle]), list(items[middle:])


def rings(units: Sequence[str]) -> list[list[str]]:
    """Rings in which each unit has each other one as its neighbour at least once (Walecki's construction).

    An odd number n of units makes (n - 1) / 2 rings without a repetition, an even one n / 2 rings.
    """
    if len(units) < 2:
        return []
    last = "" if len(units) % 2 == 0 else units[-1]
    others = units if not last else units[:-1]
    count = len(others)
    found = []
    for start in range(count // 2):
        turns = [start + (step + 1) // 2 * (1 if step % 2 else -1) for step in range(count)]
        ring = [others[turn % count] for turn in turns]
        found.append([last, *ring] if last else ring)
    return found


def there_and_back(path: Sequence[str]) -> list[str]:
    """A ring of units that walks the path and returns over it, so that it tests no further pair of units."""
    return [*path, *reversed(path[1:-1])]


def path_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Units of pairs that follow each other."""
    return [pairs[0][0], *(second for _first, second in pairs)]
