# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A dashboard as data: rows of panels, each with its queries, its unit and how it is read. It knows no Grafana."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["lines", "stat", "table", "timeline"]
WIDTH = 24
"""Columns of Grafana's grid."""


@dataclass(frozen=True)
class Query:
    """PromQL with Grafana's variables, and how its series are called."""

    expr: str
    legend: str = ""


@dataclass(frozen=True)
class Panel:
    """One picture, number or table."""

    title: str
    about: str
    """How it is read, and which values are good."""
    kind: Kind
    unit: str
    """Grafana's word for it."""
    queries: tuple[Query, ...]
    span: int = 8
    height: int = 8
    value: str = "value"
    """Heading of a table's numbers."""
    top: float | None = None
    """The end of the axis, where it has one."""
    stacked: bool = False
    red_from: float | None = None
    """A number in red from this value on."""
    links: tuple[str, ...] = ()
    """Columns of a table that lead to a dashboard of their own: job, node."""

    def number(self, row: str) -> int:
        """Its id in the dashboard. It stays when other panels come and go, so that links to it do too."""
        return zlib.crc32(f"{row}/{self.title}".encode()) % 1_000_000 + 1


@dataclass(frozen=True)
class Row:
    """Panels under a heading."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Variable:
    """A choice at the top of a dashboard."""

    name: str
    label: str
    query: str
    several: bool = True
    """More than one value, and all of them at first."""
    listed: bool = False
    """All values are in the query one by one: few nodes of many, which Prometheus then finds by its index."""


@dataclass(frozen=True)
class Board:
    """A dashboard."""

    uid: str
    title: str
    about: str
    """One sentence for lists."""
    reading: str
    """How to read it, in Markdown; it is the first panel."""
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    since: str = "now-3h"
    tags: tuple[str, ...] = field(default=("drawbridge",))

    def panels(self) -> dict[str, Panel]:
        """By title."""
        return {panel.title: panel for row in self.rows for panel in row.panels}


def lines(title: str, unit: str, about: str, *queries: Query, top: float | None = None, span: int = 8) -> Panel:
    """Values over time."""
    return Panel(title, about, "lines", unit, queries, span, top=top)


def areas(title: str, unit: str, about: str, *queries: Query, span: int = 8) -> Panel:
    """Values over time, one on the other."""
    return Panel(title, about, "lines", unit, queries, span, stacked=True)


def stat(title: str, unit: str, about: str, expr: str, red_from: float | None = None) -> Panel:
    """One number."""
    return Panel(title, about, "stat", unit, (Query(expr),), span=4, height=4, red_from=red_from)


def found(title: str, unit: str, about: str, expr: str, value: str, *links: str) -> Panel:
    """A table whose query has the limit in it: it is empty when nothing stands out."""
    return Panel(title, about, "table", unit, (Query(expr),), height=5, value=value, links=links)


def timeline(title: str, about: str, *queries: Query) -> Panel:
    """Bars over time, one a series, for as long as it has a value."""
    return Panel(title, about, "timeline", "none", queries, WIDTH, height=9)
