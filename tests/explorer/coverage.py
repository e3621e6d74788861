# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What schedules reached, and what they should have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .steps import RARE, STEPS


@dataclass
class Seen:
    """Counts of some schedules, and what they broke: seed, invariant, sentence."""

    met: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, met: Mapping[tuple[str, str, str], int], steps: Mapping[tuple[str, str], int]) -> None:
        """Add the counts of one schedule, or of several."""
        self.met.update(met)
        self.steps.update(steps)

    def summary(self) -> str:
        """One line of counts."""
        rare = min(self.met.items(), key=lambda it: it[1], default=(("", "", ""), 0))
        return (
            f"I/O calls: {sum(self.steps.values())} of {len(self.steps)} kinds; faults met: {sum(self.met.values())} "
            f"of {len(self.met)} kinds, the rarest {rare[1]} times ({', '.join(rare[0])})"
        )


def gaps(seen: Seen, targets: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Steps that steps.py does not list, and faults that no schedule met."""
    known = {*RARE, *((verb, step) for verb, steps in STEPS.items() for step in steps)}
    yield from (f"steps.py does not list {verb}: {step}" for verb, step in sorted(set(seen.steps) - known))
    yield from (f"{fault} at {verb}: {step}" for verb, step, fault in targets if not seen.met[fault, verb, step])
