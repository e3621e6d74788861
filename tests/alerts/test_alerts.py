# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics and alerts, as Prometheus' own tool judges them."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.formats import as_metrics

from roles.slurm_gate.files.gate import metrics
from roles.slurm_gate.files.gate.decide import STATES
from tests.alerts.promtool import promtool

HOME = Path(__file__).parent
RULES = sorted((HOME.parents[1] / "examples/prometheus").glob("*.rules.yml"))
GATE = {
    'events_total{event="crashed"}': 0.0,
    'runs_total{verb="open",code="1"}': 2.0,
    'seconds_total{verb="open"}': 0.75,
    **{f'node_state{{state="{state}"}}': float(state == "held") for state in STATES},
    "policies_in_force": 1.0,
    "reconciled_timestamp_seconds": 1764000000.25,
}
REPORT = {
    "started": "2026-11-25T02:00:00+00:00",
    "seconds": 61.5,
    "hosts": 10,
    "findings": [{"kind": "changed", "layer": "fabric_nic", "hosts": "gpu[01-04]", "new": "gpu04", "text": "x"}],
}


def test_each_metric_of_the_gate_is_in_the_text_that_is_checked() -> None:
    assert {name.partition("{")[0] for name in GATE} == set(metrics.HELP)


@pytest.mark.parametrize("text", [metrics.text(GATE), as_metrics(REPORT)], ids=["gate", "report"])
def test_metrics_are_as_prometheus_wants_them(text: str) -> None:
    assert promtool(["check", "metrics"], text) == (0, "")


def test_rules_are_valid() -> None:
    code, said = promtool(["check", "rules", "--lint-fatal", *map(str, RULES)])
    assert code == 0, said


@pytest.mark.parametrize("file", sorted(HOME.glob("*.test.yml")), ids=lambda file: file.name.partition(".")[0])
def test_each_rule_does_what_its_tests_say(file: Path) -> None:
    code, said = promtool(["test", "rules", str(file)])
    assert code == 0, said
