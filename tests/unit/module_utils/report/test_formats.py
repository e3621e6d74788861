# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A report as JSON, JUnit XML and metrics."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.collect import Event
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.fold import hosts_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.formats import (
    as_json,
    as_junit,
    as_metrics,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.sentences import text

from tests.unit.module_utils.report.runs import report, step


def test_junit_has_a_case_for_each_host_and_layer() -> None:
    found = [step("gpu01", "a", "b"), Event("unreachable", "gpu02", "", "Visit", {"msg": "no \x1b route"})]
    suite = ElementTree.fromstring(as_junit(report(found, check=True)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    assert [case.get("name") for case in suite] == ["gpu01", "gpu02"]
    assert [case[0].text for case in suite] == ["changed: a\nchanged: b", "unreachable: no ? route"]
    quiet = ElementTree.fromstring(as_junit(report([], check=True)))
    assert (quiet.get("tests"), quiet.get("failures"), len(quiet)) == ("1", "0", 1)


def test_metrics_count_each_host_and_have_zeros() -> None:
    said = as_metrics(report([step("gpu01", "a"), step("gpu02", "a")], check=True)).splitlines()
    assert 'drawbridge_report_findings{kind="changed",layer="fabric_nic"} 2' in said
    assert 'drawbridge_report_findings{kind="failed",layer=""} 0' in said
    assert f"drawbridge_report_start_timestamp_seconds {1795485600}" in said


def test_json_has_what_the_terminal_says_first() -> None:
    found = report([step("gpu02", "a"), step("gpu01", "a")])
    read = json.loads(as_json(found))
    assert read["summary"] == text(found)[0] == "site.yml: 2 steps made on 2 hosts, of 11 hosts. 1 min 12 s."
    assert hosts_of(read["findings"]) == ["gpu01", "gpu02"]
