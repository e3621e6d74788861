# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Instances that a GPU can be divided into, and whether a layout of them has room on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """A kind of instances, in the vendor's slices of processors and of memory."""

    compute: int
    memory: int
    starts: tuple[int, ...]
    """Slices of memory at which such an instance may begin."""


@dataclass(frozen=True)
class Divisible:
    """A model of GPUs that can be divided."""

    compute: int
    """Slices of processors of one GPU."""
    profiles: Mapping[str, Profile]

    def has_room(self, layout: Mapping[str, int]) -> bool:
        """Whether one GPU can have all these instances at the same time. All their profiles are known."""
        wanted = sorted(
            (self.profiles[name] for name, count in layout.items() for _unused in range(count)),
            key=lambda profile: -profile.memory,
        )
        return sum(profile.compute for profile in wanted) <= self.compute and _placed(wanted, frozenset())


def _placed(wanted: list[Profile], taken: frozenset[int]) -> bool:
    """Whether some choice of places has room for all."""
    if not wanted:
        return True
    first, rest = wanted[0], wanted[1:]
    places = (frozenset(range(start, start + first.memory)) for start in first.starts)
    return any(_placed(rest, taken | place) for place in places if not place & taken)
