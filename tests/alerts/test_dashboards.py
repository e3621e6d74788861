# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dashboards as committed: their queries on made-up sites, as promtool evaluates them, and what a panel must have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.formats import METRICS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import FAMILIES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.others import EXPORTERS

from docs.dashboards.boards import BOARDS, name
from docs.dashboards.model import Board
from docs.dashboards.questions import PAGE, ROOT, page
from roles.slurm_gate.files.gate.metrics import HELP, PREFIX
from tests.alerts.promtool import promtool
from tests.alerts.sites import COMMITTED, Site, everything, healthy, others, panels, people_ask, with_cause
from tests.alerts.synthetic import QUESTIONS, group, site, whole

Json = dict[str, Any]
MANY = 20
OF_TARGETS = {"instance", "job", "node"}
"""Labels that Prometheus adds."""


def judged(tmp_path: Path, *sites: Site) -> None:
    (tmp_path / "site.test.yml").write_text(whole([group(*it) for it in sites]))
    code, said = promtool(["test", "rules", str(tmp_path / "site.test.yml")])
    assert code == 0, said


def test_on_a_healthy_site_no_table_names_anything(tmp_path: Path) -> None:
    judged(tmp_path, healthy())


def test_each_question_is_answered_with_its_planted_cause_and_nothing_else(tmp_path: Path) -> None:
    judged(tmp_path, *map(with_cause, people_ask()))


def test_each_other_table_names_its_planted_cause_and_nothing_else(tmp_path: Path) -> None:
    judged(tmp_path, others())


def test_each_query_returns_data_where_all_causes_are_planted(tmp_path: Path) -> None:
    judged(tmp_path, everything())


def test_the_made_up_site_has_only_series_that_programs_write() -> None:
    others = "|".join(name for exporter in EXPORTERS.values() for name in exporter.names)
    programs = {*METRICS, *(f"{PREFIX}{name}" for name in HELP), "up", "ALERTS"}
    for series in site(*(it["planted"] for it in QUESTIONS)):
        metric, labels = series.partition("{")[0], set(re.findall(r'(\w+)="', series))
        if metric in FAMILIES:
            assert labels - OF_TARGETS == set(FAMILIES[metric].labels) - OF_TARGETS, series
        else:
            assert metric in programs or re.fullmatch(others, metric), series


def test_there_are_twenty_questions_and_each_table_has_a_cause() -> None:
    assert len(people_ask()) == len({it["question"] for it in people_ask()}) == MANY
    assert {(it["dashboard"], it["panel"]) for it in QUESTIONS} == {
        (board, panel["title"]) for board in COMMITTED for panel in panels(board) if panel["type"] == "table"
    }


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda it: f"{it['dashboard']}: {it['panel']}")
def test_the_committed_panel_has_the_query(asked: Json) -> None:
    [panel] = [panel for panel in panels(asked["dashboard"]) if panel["title"] == asked["panel"]]
    assert [target["expr"] for target in panel["targets"]] == [asked["query"]]


@pytest.mark.parametrize("board", BOARDS, ids=name)
def test_the_committed_file_is_that_of_the_code(board: Board) -> None:
    """Without the SDK: what `make dashboards` writes from titles, units, queries and how to read them."""
    want = [
        (panel.number(row.title), panel.title, panel.unit, panel.about, [query.expr for query in panel.queries])
        for row in board.rows
        for panel in row.panels
    ]
    found = panels(name(board))
    assert found[0]["options"]["content"] == board.reading.strip()
    assert want == [
        (
            panel["id"],
            panel["title"],
            panel["fieldConfig"]["defaults"]["unit"],
            panel["description"],
            [target["expr"] for target in panel["targets"]],
        )
        for panel in found[1:]
    ]
    variables = {it["name"]: it["query"] for it in COMMITTED[name(board)]["templating"]["list"]}
    assert variables == {"datasource": "prometheus", **{it.name: it.query for it in board.variables}}


def test_the_page_of_questions_is_that_of_the_table() -> None:
    assert PAGE.read_text() == page()


def test_the_guide_has_each_dashboard_with_its_choices() -> None:
    rows = re.findall(
        r"^\| `(\w+)\.json` \| .* \| (.*) \| .* \|$", (ROOT / "docs/guides/dashboards.md").read_text(), re.M
    )
    choices = {name(it): ", ".join(each.label.lower() for each in it.variables) or "none" for it in BOARDS}
    assert dict(rows) == choices


def test_the_lock_pins_by_hash_and_names_no_index() -> None:
    text = (ROOT / ".config/dashboards-requirements.lock").read_text()
    assert "--hash=sha256:" in text and "://" not in text and "--index" not in text


@pytest.mark.parametrize("board", COMMITTED)
def test_each_panel_has_a_unit_and_its_place(board: str) -> None:
    found = panels(board)
    assert found[0]["type"] == "text"
    assert [panel["title"] for panel in found[1:] if not panel["fieldConfig"]["defaults"].get("unit")] == []
    everything = COMMITTED[board]["panels"]
    assert len({panel["id"] for panel in everything}) == len(everything)
    assert len({panel["title"] for panel in found}) == len(found)
    cells = [cell for panel in everything for cell in area(panel["gridPos"])]
    assert len(set(cells)) == len(cells), "panels lie on each other"


def area(place: Json) -> list[tuple[int, int]]:
    return [
        (x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])
    ]
