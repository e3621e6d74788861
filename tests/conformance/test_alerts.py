# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every alert has a section of the runbook, a firing and a quiet test; rules read metrics that exist."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.formats import METRICS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import FAMILIES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.others import EXPORTERS

from docs.metrics import PER_NODE, RECORDED, Shape, recorded, total
from roles.slurm_gate.files.gate.metrics import HELP, PREFIX
from tests import promql
from tests.conformance.tree import ROOT

GUIDE = "docs/guides/alerts.md"
RULES = yaml.safe_load((ROOT / "examples/prometheus/drawbridge.rules.yml").read_text())
ALERTS: list[dict[str, Any]] = [rule for group in RULES["groups"] for rule in group["rules"]]
TESTS = [
    test for file in (ROOT / "tests/alerts").glob("*.test.yml") for test in yaml.safe_load(file.read_text())["tests"]
]
OTHERS = {name for exporter in EXPORTERS.values() for name in exporter.names}
WRITTEN = {*METRICS, *(f"{PREFIX}{name}" for name in HELP), *FAMILIES}
KNOWN = {*WRITTEN, *OTHERS, *RECORDED, "up"}
SECTION = ("Means", "Do")


def name(alert: dict[str, Any]) -> str:
    return str(alert["alert"])


def unknown(expression: str) -> list[str]:
    """Metrics that no table has."""
    return [it for it in promql.names(expression) if not any(promql.covers(it, known) for known in KNOWN)]


@pytest.mark.parametrize("alert", ALERTS, ids=name)
def test_it_reads_metrics_that_exist(alert: dict[str, Any]) -> None:
    assert unknown(alert["expr"]) == []


@pytest.mark.parametrize("rule", recorded(), ids=lambda rule: str(rule["record"]))
def test_a_recorded_series_is_documented_and_tested_and_its_sources_exist(rule: dict[str, Any]) -> None:
    assert rule["record"] in RECORDED
    assert unknown(rule["expr"]) == []
    queries = {case["expr"] for test in TESTS for case in test.get("promql_expr_test", ())}
    assert rule["record"] in queries


def test_the_page_has_no_recorded_series_that_is_gone() -> None:
    assert list(RECORDED) == [rule["record"] for rule in recorded()]


def test_each_recorded_series_has_the_labels_of_its_page() -> None:
    for test in TESTS:
        for case in test.get("promql_expr_test", ()):
            for sample in case["exp_samples"]:
                labels = set(re.findall(r'(\w+)="', sample["labels"]))
                wanted = set(filter(None, RECORDED[case["expr"]][0].split(", ")))
                # a port to another switch has no node, and a whole GPU is no instance
                assert labels in (wanted, wanted - {"node", "rail"}, wanted - {"GPU_I_ID"}), sample


def test_a_site_of_ten_thousand_nodes_stays_within_the_budget() -> None:
    assert total(Shape()) <= PER_NODE * Shape().nodes
    assert total(Shape(nodes=100, switches=40)) <= PER_NODE * 100


@pytest.mark.parametrize("alert", ALERTS, ids=name)
def test_its_link_leads_to_its_section_of_the_runbook(alert: dict[str, Any]) -> None:
    assert alert["annotations"]["runbook_url"].endswith(f"/{GUIDE}#{alert['alert'].lower()}")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", (ROOT / GUIDE).read_text(), re.DOTALL | re.MULTILINE))
    assert [word for word in SECTION if f"\n{word}: " not in sections[alert["alert"]]] == []


@pytest.mark.parametrize("alert", ALERTS, ids=name)
def test_it_has_a_firing_and_a_quiet_test(alert: dict[str, Any]) -> None:
    own = [[case for case in test.get("alert_rule_test", ()) if case["alertname"] == alert["alert"]] for test in TESTS]
    fires = [any(case["exp_alerts"] for case in cases) for cases in own if cases]
    assert set(fires) == {False, True}


def test_the_runbook_has_no_section_of_an_alert_that_is_gone() -> None:
    named = re.findall(r"^## (Drawbridge\w+)$", (ROOT / GUIDE).read_text(), re.MULTILINE)
    assert named == [name(alert) for alert in ALERTS]
