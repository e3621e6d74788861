# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Made-up sites, each with queries of the committed dashboards and what these must name there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from docs.dashboards.answers import Prometheus
from docs.dashboards.boards import BOARDS, file, name
from tests.alerts.blocks import APART_S, END_S
from tests.alerts.synthetic import QUESTIONS, Series, asked, site

Json = dict[str, Any]
Labels = Mapping[str, str]
COMMITTED: dict[str, Json] = {name(board): json.loads(file(board).read_text()) for board in BOARDS}


class Site(NamedTuple):
    """A made-up site; the words of `synthetic.group`."""

    name: str
    series: Series
    cases: Sequence[tuple[str, Sequence[Labels]]]
    """Queries, and the labels of all that each must return."""


class Placed(NamedTuple):
    """A site that a real Prometheus has."""

    site: Site
    start: int
    """Unix time of its first samples."""


def panels(board: str) -> list[Json]:
    """All but headings."""
    return [panel for panel in COMMITTED[board]["panels"] if panel["type"] != "row"]


def queries(kind: str = "") -> list[tuple[str, str]]:
    """Where each query is, and the query."""
    return [
        (f"{board}: {panel['title']}", target["expr"])
        for board in COMMITTED
        for panel in panels(board)
        if kind in ("", panel["type"])
        for target in panel.get("targets", [])
    ]


def healthy() -> Site:
    """No table names anything."""
    return Site("healthy", site(), [(asked(query), []) for _, query in queries("table")])


def with_cause(it: Json) -> Site:
    """An entry of questions.yml: its query names its planted cause and nothing else."""
    return Site(f"{it['dashboard']}: {it['panel']}", site(it["planted"]), [(asked(it["query"]), it["named"])])


def people_ask() -> list[Json]:
    """The entries of questions.yml that have a question."""
    return [it for it in QUESTIONS if "question" in it]


def others() -> Site:
    """All causes of the remaining tables: each names its own and nothing else."""
    rest = [it for it in QUESTIONS if "question" not in it]
    return Site("others", site(*(it["planted"] for it in rest)), [(asked(it["query"]), it["named"]) for it in rest])


def everything() -> Site:
    """All causes: each query returns data. Without labels: which ones it has, the other sites say."""
    series = site(*(it["planted"] for it in QUESTIONS))
    return Site("everything", series, [(f"group({asked(query)})", [{}]) for _, query in queries()])


def placed(sites: Iterable[Site], newest: int) -> list[Placed]:
    """The sites in the past, so far apart that no query sees two of them. `newest` is a multiple of BLOCK_S."""
    return [Placed(it, newest - number * APART_S) for number, it in enumerate(sites)]


def wrong(prometheus: Prometheus, it: Placed) -> list[str]:
    """Queries that do not return exactly what they must."""
    return [
        f"{it.site.name}: {query} names {found} instead of {list(named)}"
        for query, named in it.site.cases
        if _sorted(found := [answer.labels for answer in prometheus.now(query, it.start + END_S)]) != _sorted(named)
    ]


def _sorted(named: Iterable[Labels]) -> list[list[tuple[str, str]]]:
    return sorted(sorted(labels.items()) for labels in named)
