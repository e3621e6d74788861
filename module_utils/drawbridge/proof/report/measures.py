# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The measures of a proof by check and name: the worst, the middle and the spread, beside their limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ..result import Judged

FABRIC = "fabric"
"""Check of the measures and findings of the search."""
BINS = 20
LOWEST, STEP = 0.8, 0.02
"""Bins of the spread: shares of the limit from 0.8 on, each 0.02 wide. The first and the last one have the rest."""


@dataclass(frozen=True)
class Row:
    """Measures of one check with the same name and the same limit."""

    check: str
    name: str
    unit: str
    limit: float | None
    at_least: bool
    why: str
    count: int
    failed: int
    worst: Judged
    middle: float
    bins: tuple[int, ...]
    """Number of measures by share of the limit; empty without a limit."""


def share(measure: Judged) -> float:
    """The value as a share of its limit, 1 or more if it passed. Infinite without a limit, 0 if it is no number."""
    if measure.limit is None:
        return math.inf
    value, limit = (measure.value, measure.limit) if measure.at_least else (measure.limit, measure.value)
    if not math.isfinite(measure.value):
        return 0.0
    return value / limit if limit > 0 else math.inf


def rows(measures: Sequence[Judged]) -> list[Row]:
    """Checks in their order; in each, first the measures that are nearest to their limit."""
    groups: dict[tuple[object, ...], list[Judged]] = {}
    for it in measures:
        groups.setdefault((it.check, it.name, it.unit, it.limit, it.at_least, it.why), []).append(it)
    checks = list(dict.fromkeys(it.check for it in measures))
    found = [_row(group) for group in groups.values()]
    return sorted(found, key=lambda row: (checks.index(row.check), share(row.worst)))


def _row(group: Sequence[Judged]) -> Row:
    worst = min(group, key=lambda it: (it.passed, share(it), it.value if it.at_least else -it.value))
    bins = [0] * BINS
    for it in group if worst.limit is not None else ():
        bins[min(BINS - 1, max(0, math.floor((min(share(it), LOWEST + BINS * STEP) - LOWEST) / STEP + 1e-9)))] += 1
    return Row(
        *(worst.check, worst.name, worst.unit, worst.limit, worst.at_least, worst.why),
        count=len(group),
        failed=sum(not it.passed for it in group),
        worst=worst,
        middle=median(it.value for it in group),
        bins=tuple(bins) if worst.limit is not None else (),
    )


def slowest_rail(measures: Sequence[Judged]) -> Judged | None:
    """The measure of a rail that is the smallest share of its limit; None if no rail was measured.

    Among failed ones a pair comes first: a ring over many nodes is as slow as its slowest port.
    """
    rails = [it for it in measures if it.rail is not None and it.limit is not None and it.unit == "Gb/s"]
    return min(rails, key=lambda it: (it.passed, not it.passed and len(it.nodes) > 2, share(it)), default=None)
