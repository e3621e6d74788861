# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dashboards as committed: their queries on made-up sites, as a real Prometheus answers them from its blocks.

molecule/telemetry does the same with all questions on the Prometheus of a host.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.dashboards.answers import Prometheus, answering
from docs.dashboards.boards import BOARDS, name
from tests.alerts.blocks import END, END_S, openmetrics, recorded
from tests.alerts.promtool import promtool
from tests.alerts.sites import Placed, everything, healthy, others, people_ask, placed, with_cause, wrong
from tests.alerts.synthetic import AT, QUESTIONS, whole

NEWEST = 1767225600
FIRST = {it["dashboard"]: it for it in reversed(people_ask())}
"""The first question of each dashboard that answers any. The tables of the dashboard site are among the others."""
SAMPLE = [with_cause(it) for it in FIRST.values()]
PLACED = {it.site.name: it for it in placed([everything(), others(), healthy(), *SAMPLE], NEWEST)}


@pytest.fixture(scope="module")
def prometheus() -> Iterator[Prometheus]:
    """One with all these sites."""
    series = "".join(openmetrics(it.site.series, it.start) for it in PLACED.values())
    with answering(f"{series}{END}") as first:
        rules = "".join(recorded(first, it.start) for it in PLACED.values())
    with answering(f"{series}{rules}{END}") as found:
        yield found


def test_each_dashboard_has_a_question_or_a_table() -> None:
    assert {*FIRST, "site"} == {name(board) for board in BOARDS}
    assert "site" in {it["dashboard"] for it in QUESTIONS}


@pytest.mark.parametrize("it", PLACED.values(), ids=PLACED)
def test_queries_name_their_planted_causes_and_nothing_else(prometheus: Prometheus, it: Placed) -> None:
    assert wrong(prometheus, it) == []


def test_recorded_series_are_those_that_promtool_records(prometheus: Prometheus, tmp_path: Path) -> None:
    """Prometheus has them from its blocks; promtool evaluates the rules itself. All labels and values are compared."""
    query, it = '{__name__=~"drawbridge:.+"}', PLACED["everything"]
    samples = [
        {"labels": _selector(answer.labels), "value": answer.values[0]}
        for answer in prometheus.now(query, it.start + END_S)
    ]
    assert len({answer["labels"].partition("{")[0] for answer in samples}) > 30
    group = {
        "interval": "1m",
        "input_series": [{"series": series, "values": values} for series, values in it.site.series.items()],
        "promql_expr_test": [{"expr": query, "eval_time": AT, "exp_samples": samples}],
    }
    (tmp_path / "site.test.yml").write_text(whole([group]))
    code, said = promtool(["test", "rules", str(tmp_path / "site.test.yml")])
    assert code == 0, said[-4000:]


def _selector(labels: dict[str, str]) -> str:
    pairs = (f"{label}={json.dumps(text)}" for label, text in labels.items() if label != "__name__")
    return f"{labels['__name__']}{{{','.join(pairs)}}}"
