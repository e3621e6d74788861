# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A proof as the lines that a terminal shows: verdict, findings with their place, numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ...core.quantities import count, duration
from ..result import SKIPPED, UNKNOWN, Result
from .compare import compared
from .measures import FABRIC, Row, rows, share, slowest_rail
from .words import Folded, bound, by_reason, folded, hosts, value, verdict, where

LINES, WIDTH = 40, 118
MOST_ROWS, MOST_REASONS = 6, 3


def text(result: Result, last: Result | None = None) -> list[str]:
    """The summary, at most LINES lines. Findings that find no space are counted."""
    tail = [*_reasons(result), "", *_fabric(result), *_checks(result), *(_since(last, result) if last else [])]
    head = _wrapped(verdict(result), "", "  ")
    return [*head, *_findings(folded(result.findings), LINES - len(head) - len(tail)), *tail]


def _wrapped(sentence: str, first: str, further: str) -> list[str]:
    return textwrap.wrap(sentence, WIDTH, initial_indent=first, subsequent_indent=further, break_on_hyphens=False)


def _findings(found: Sequence[Folded], room: int) -> list[str]:
    if not found:
        return []
    lines = ["", "Findings"]
    for index, one in enumerate(found):
        mine = _finding(one)
        if len(lines) + len(mine) + (index + 1 < len(found)) > room:
            rest = count(len(found) - index, "further finding" if index else "finding")
            return [*lines, f"  {rest}: see the page or the JSON"]
        lines += mine
    return lines


def _finding(one: Folded) -> list[str]:
    it = one.finding
    mark = f"{it.check}, {it.kind}" + (", warning" if it.warning else "")
    place = f"{one.place}: " if one.place and not one.placed else ""
    lines = _wrapped(f"{place}{it.text} ({mark})", "  ", "    ")
    return lines + (_wrapped(f"Look at: {it.look}", "    ", "      ") if it.look else [])


def _reasons(result: Result) -> list[str]:
    found = by_reason(result.nodes, SKIPPED, UNKNOWN)
    lines = [textwrap.shorten(f"{hosts(names)}: {word}: {why}", WIDTH - 2) for word, why, names in found[:MOST_REASONS]]
    if len(found) > MOST_REASONS:
        lines.append(
            f"{count(sum(len(names) for *_rest, names in found[MOST_REASONS:]), 'further node')} skipped or unknown"
        )
    return ["", "Not proved", *(f"  {line}" for line in lines)] if lines else []


def _fabric(result: Result) -> list[str]:
    it = result.fabric
    if not it.tests:
        return []
    lines = [
        f"Fabric: {count(it.tests, 'test')} in {count(it.rounds, 'round')}, {duration(it.seconds)};"
        f" all pairs of nodes would be {count(it.pairs, 'test')}",
        f"Coverage: {it.ports_passed:,} of {count(it.ports, 'port')} and"
        f" {it.leaf_pairs_passed:,} of {count(it.leaf_pairs, 'leaf pair')} were in a passing test",
    ]
    if rail := slowest_rail(result.measures):
        limit = bound(rail.limit, rail.at_least, rail.unit)
        lines.append(f"Slowest rail: {where(rail)}: {value(rail)}; the limit is {limit}: {rail.why}")
    return [part for line in lines for part in _wrapped(line, "", "  ")]


def _checks(result: Result) -> list[str]:
    found = sorted((row for row in rows(result.measures) if row.check != FABRIC and row.limit is not None), key=_order)
    lines = [_row(row) for row in found[:MOST_ROWS]]
    if len(found) > MOST_ROWS:
        lines.append(f"{count(len(found) - MOST_ROWS, 'further measure')}: see the page or the JSON")
    return ["Measures nearest to their limit", *(f"  {line}" for line in lines)] if lines else []


def _order(row: Row) -> tuple[bool, float]:
    return not row.failed, share(row.worst)


def _row(row: Row) -> str:
    failed = f", {row.failed:,} beyond the limit" if row.failed else ""
    limit = bound(row.limit, row.at_least, row.unit)
    line = f"{row.name}: {value(row.worst)} at {where(row.worst)}, limit {limit}; {row.count:,} measured{failed}"
    return textwrap.shorten(line, WIDTH - 2, placeholder=" ...")


def _since(last: Result, now: Result) -> list[str]:
    found = compared(last, now)
    if found.same:
        return [f"Since the proof of {found.since}: no difference"]
    changes = [f"{names} {before} -> {after}" for before, after, names in found.verdicts]
    parts = [*changes[:3], *([f"{len(changes) - 3} further changes of verdicts"] if len(changes) > 3 else [])]
    parts += [
        f"{count(len(some), 'finding')} {word}" for word, some in (("new", found.new), ("gone", found.gone)) if some
    ]
    if found.weaker:
        parts.append(f"{count(len(found.weaker), 'measure')} weaker")
    line = f"Since the proof of {found.since}: {'; '.join(parts)}"
    return _wrapped(textwrap.shorten(line, 3 * WIDTH - 10, placeholder=" ..."), "", "  ")
