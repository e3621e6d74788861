# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A model of costs: a line by least squares through measured points, and the error of its predictions beyond."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

ERRORS = 2.0
"""A value is given with so many standard errors: about 95 of 100 new measurements are within."""


@dataclass(frozen=True)
class Line:
    """Cost = start + node x nodes, with what its errors follow from."""

    start: float
    node: float
    off: float
    """The largest distance of a measured point."""
    spread: float
    """The standard deviation of the points around the line."""
    points: int
    centre: float
    squares: float
    """Sum of the squared distances of the points' sizes from `centre`."""

    def at(self, nodes: float) -> float:
        """The cost that the line has for so many nodes."""
        return self.start + self.node * nodes

    def error(self, nodes: float) -> float:
        """How far off that may be. It grows with the distance from the sizes that were measured."""
        away = (nodes - self.centre) ** 2 / self.squares
        return ERRORS * self.spread * math.sqrt(1 + 1 / self.points + away)


def fitted(points: Sequence[tuple[float, float]]) -> Line:
    """The line through points (nodes, cost), of which there must be three or more."""
    sizes, costs = [size for size, _cost in points], [cost for _size, cost in points]
    node, start = statistics.linear_regression(sizes, costs)
    distances = [cost - start - node * size for size, cost in points]
    spread = math.sqrt(sum(it**2 for it in distances) / (len(points) - 2))
    centre = statistics.mean(sizes)
    squares = sum((size - centre) ** 2 for size in sizes)
    return Line(start, node, max(map(abs, distances)), spread, len(points), centre, squares)
