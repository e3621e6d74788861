# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The values that the HTML page shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.quantities import count, duration
from ..limits import number
from ..result import FAILED, PROVED, SKIPPED, UNKNOWN, Result
from .compare import compared
from .heatmap import heatmap, said, tone
from .measures import BINS, LOWEST, STEP, Row, rows, share, slowest_rail
from .picture import Box, Lines, Picture
from .ports import BAD, GOOD, NONE, WARNING, Cell, Fabric, fabric_of
from .topology import TONES, topology
from .words import PASSED, bound, by_reason, folded, hosts, outcome, value, verdict, where

MOST_NODES = 1024
"""Of more nodes, the table of ports has only those that are not good: the page stays small."""
MOST_LINES = 200
"""Lines of a table; the JSON has all."""
HIGH, WIDE = 24, 6
"""Height of a spread and width of its bins, in px."""


@dataclass(frozen=True)
class PortCell:
    """A port in the table of nodes and rails. Its text is the best measure in percent of the limit."""

    text: str
    tone: str
    title: str


@dataclass(frozen=True)
class NodeRow:
    """A node with its ports."""

    name: str
    verdict: str
    tone: str
    cells: tuple[PortCell, ...]
    calm: bool
    """Proved, and no port has a finding."""


@dataclass(frozen=True)
class UnitTable:
    """Nodes of a unit. `hidden` good nodes have no row, because the site is large."""

    title: str
    leaves: tuple[str, ...]
    rows: tuple[NodeRow, ...]
    hidden: int
    calm: bool


def view(result: Result, last: Result | None = None) -> dict[str, Any]:
    """Names of the template with their values."""
    fabric, measures = fabric_of(result), rows(result.measures)
    failed = sorted((it for it in result.measures if not it.passed), key=share)
    return {
        "result": result,
        "outcome": {PASSED: GOOD, FAILED: BAD}.get(outcome(result), WARNING),
        "verdict": verdict(result),
        "findings": folded(result.findings),
        "reasons": [
            (TONES[word], hosts(names), word, why)
            for word, why, names in by_reason(result.nodes, FAILED, SKIPPED, UNKNOWN)
        ],
        "numbers": _numbers(result),
        "topology": topology(result, fabric) if fabric.ports else None,
        "maps": [heatmap(fabric, rail) for rail in sorted(fabric.leaves)],
        "units": _units(result, fabric),
        "measures": [(row, spread(row)) for row in measures],
        "failed": failed[:MOST_LINES],
        "more_failed": max(0, len(failed) - MOST_LINES),
        "comparison": compared(last, result) if last else None,
        "most": MOST_LINES,
        **{function.__name__: function for function in (bound, count, number, value, where)},
    }


def _numbers(result: Result) -> list[tuple[str, str]]:
    it = result.fabric
    if not it.tests:
        return []
    found = [
        ("tests", f"{count(it.tests, 'test')} in {count(it.rounds, 'round')}, {duration(it.seconds)}"),
        ("all pairs of nodes", f"would be {count(it.pairs, 'test')}"),
        ("ports", f"{it.ports_passed:,} of {it.ports:,} were in a passing test"),
        ("leaf pairs", f"{it.leaf_pairs_passed:,} of {it.leaf_pairs:,} were in a passing test"),
    ]
    if rail := slowest_rail(result.measures):
        limit = bound(rail.limit, rail.at_least, rail.unit)
        found.append(("slowest rail", f"{where(rail)}: {value(rail)}; the limit is {limit}: {rail.why}"))
    return found


def _units(result: Result, fabric: Fabric) -> list[UnitTable]:
    every = len(result.nodes) <= MOST_NODES
    found = []
    for unit, leaves in result.leaves.items():
        mine = [_node(it, leaves, fabric) for it in result.nodes if it.unit == unit]
        good = sum(fabric.ports[it.name, rail].state == GOOD for it in mine for rail in range(len(leaves)))
        shown = tuple(it for it in mine if every or not it.calm)
        names = hosts(it.name for it in mine)
        title = f"{unit}: {names}: {good:,} of {count(len(mine) * len(leaves), 'port')} within the limit"
        calm = all(it.calm for it in mine)
        found.append(UnitTable(title, tuple(leaves), shown, len(mine) - len(shown), calm))
    return [it for it in found if it.rows or it.hidden]


def _node(node: Any, leaves: Sequence[str], fabric: Fabric) -> NodeRow:
    cells = [fabric.ports[node.name, rail] for rail in range(len(leaves))]
    calm = node.verdict == PROVED and all(it.state == GOOD for it in cells)
    return NodeRow(node.name, node.verdict, TONES.get(node.verdict, WARNING), tuple(map(_port, cells)), calm)


def _port(cell: Cell) -> PortCell:
    """A port below its limit never shows 100 %."""
    part = share(cell.measure) if cell.measure else math.inf
    text = f"{math.floor(100 * part + 1e-9)} %" if math.isfinite(part) else "-"
    return PortCell(f"✕ {text}" if cell.state == BAD else text, tone(cell), said(cell))


def spread(row: Row) -> Picture | None:
    """How many measures are at which share of their limit; a line marks the limit. None without a limit."""
    if not row.bins:
        return None
    at = round((1 - LOWEST) / STEP)
    title = f"{row.name}: {count(row.count, 'measure')}, {row.failed:,} beyond the limit"
    picture = Picture(title, BINS * WIDE, HIGH)
    for index, found in enumerate(row.bins):
        high = max(2, round((HIGH - 2) * found / max(row.bins))) if found else 0
        colour = BAD if index < at else GOOD
        if high:
            picture.boxes.append(Box(index * WIDE, HIGH - high, WIDE - 1, high, colour, _bin(index, found)))
    picture.lines.append(Lines(f"M{at * WIDE - 1} 0V{HIGH}", NONE))
    return picture


def _bin(index: int, found: int) -> str:
    low = round(100 * (LOWEST + index * STEP))
    high = round(low + 100 * STEP)
    part = f"below {high} %" if index == 0 else f"{low} % or more" if index == BINS - 1 else f"{low} to {high} %"
    return f"{part} of the limit: {found:,}"
