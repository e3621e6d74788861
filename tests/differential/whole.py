# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Both runs of the table, and the differences of each of its entries by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.differential import places, precedence, rows
from tests.differential.files import Site
from tests.differential.runs import PLAIN, VISIT, Run, run
from tests.differential.table import Row

SHARED = (places.PLAY, "precedence", rows.TOGETHER)
"""How the names of plays begin in which no task may fail."""


@dataclass(frozen=True)
class Both:
    """A run of visits and a run of plain tasks over the same files."""

    plain: Run
    visit: Run

    def case(self, name: str) -> list[str]:
        """Differences of a value, at all places and hosts."""
        return places.compare(name, self.plain.tree, self.visit.tree)

    def pair(self, call: str, pair: Sequence[str]) -> list[str]:
        """Differences of a pair of places that set one variable."""
        return precedence.compare(call, pair, self.plain.tree, self.visit.tree)

    def row(self, row: Row) -> list[str]:
        """Differences of a play."""
        return rows.compare(row, self.plain, self.visit)

    @property
    def ends(self) -> str:
        """What stopped plays that several entries share, or how a run ended that did nothing."""
        lines = [
            f"{event['play']}, {event['task']}, {event['host']}: {event['said'][:2000]}"
            for event in (*self.plain.events, *self.visit.events)
            if event["state"] == "failed" and event["play"].startswith(SHARED)
        ]
        nothing = [run.text[-2000:] for run in (self.plain, self.visit) if not run.events]
        return "\n".join([*lines, *nothing])

    def all(self, cases: Mapping[str, Any], plays: Sequence[Row]) -> dict[str, list[str]]:
        """The differences of all entries of the table by their names."""
        pairs = {f"precedence: {call} {'/'.join(pair)}": self.pair(call, pair) for call, pair in every_pair()}
        found = {f"case: {name}": self.case(name) for name in cases}
        return {**found, **pairs, **{row.name: self.row(row) for row in plays}}


def every_pair() -> list[tuple[str, tuple[str, str]]]:
    """All pairs of places, with the play that they are in."""
    return [(call, pair) for call in precedence.CALLS for pair in precedence.pairs(call)]


def both(
    root: Path,
    cases: Mapping[str, Any],
    plays: Sequence[Row],
    python: Path,
    environment: Mapping[str, str],
) -> Both:
    """Write the table into a new folder and run it both ways."""
    site = Site(root / "site")
    site.begin()
    # a play after the rows may lose its hosts, because it rescues none
    of_rows = rows.write(site, plays)
    of_pairs, extra = precedence.write(site)
    of_places = places.write(site, cases)
    site.write("extra.yml", {**{f"extra_{name}": value for name, value in cases.items()}, **extra})
    site.write("play.yml", [*of_rows, *of_pairs, of_places])
    plain = run(site.folder, PLAIN, root / "plain", python, environment)
    return Both(plain, run(site.folder, VISIT, root / "visit", python, environment))
