# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every alert has a section of the runbook, a firing and a quiet test, and reads metrics that Drawbridge writes."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.formats import METRICS

from roles.slurm_gate.files.gate.metrics import HELP, PREFIX
from tests.conformance.tree import ROOT

GUIDE = "docs/guides/alerts.md"
RULES = yaml.safe_load((ROOT / "examples/prometheus/drawbridge.rules.yml").read_text())
ALERTS: list[dict[str, Any]] = [rule for group in RULES["groups"] for rule in group["rules"]]
TESTS = [
    test for file in (ROOT / "tests/alerts").glob("*.test.yml") for test in yaml.safe_load(file.read_text())["tests"]
]
WRITTEN = {*METRICS, *(f"{PREFIX}{name}" for name in HELP)}
SECTION = ("Means", "Do")


def name(alert: dict[str, Any]) -> str:
    return str(alert["alert"])


@pytest.mark.parametrize("alert", ALERTS, ids=name)
def test_it_reads_metrics_that_are_written(alert: dict[str, Any]) -> None:
    assert set(re.findall(r"\bdrawbridge_\w+", alert["expr"])) <= WRITTEN


@pytest.mark.parametrize("alert", ALERTS, ids=name)
def test_its_link_leads_to_its_section_of_the_runbook(alert: dict[str, Any]) -> None:
    assert alert["annotations"]["runbook_url"].endswith(f"/{GUIDE}#{alert['alert'].lower()}")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", (ROOT / GUIDE).read_text(), re.DOTALL | re.MULTILINE))
    assert [word for word in SECTION if f"\n{word}: " not in sections[alert["alert"]]] == []


@pytest.mark.parametrize("alert", ALERTS, ids=name)
def test_it_has_a_firing_and_a_quiet_test(alert: dict[str, Any]) -> None:
    own = [[case for case in test["alert_rule_test"] if case["alertname"] == alert["alert"]] for test in TESTS]
    fires = [any(case["exp_alerts"] for case in cases) for cases in own if cases]
    assert set(fires) == {False, True}


def test_the_runbook_has_no_section_of_an_alert_that_is_gone() -> None:
    named = re.findall(r"^## (Drawbridge\w+)$", (ROOT / GUIDE).read_text(), re.MULTILINE)
    assert named == [name(alert) for alert in ALERTS]
