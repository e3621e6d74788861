# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of recorded runs. `GOLDEN=write pytest` on this file writes the golden reports anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.sentences import (
    summary,
    text,
)

from tests.recordings.drifts import DRIFTS, differences
from tests.unit.module_utils.report.runs import RUNS, recorded, report

TWO_SCREENS = 120
LATER = {"drawbridge_status"}
"""Layers that are younger than the recording of a first run."""
HERE = Path(__file__).parent


@pytest.mark.parametrize("name", RUNS)
def test_recorded_runs_read_as_they_did(name: str) -> None:
    """The steps that failures made read as those of the other runs."""
    said = "\n".join(text(report(recorded(name)))) + "\n"
    if name == "failures":
        said = re.sub(r"Changed\n.*?\n\n", "", said, flags=re.DOTALL)
    golden = HERE / f"{name}.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(said)
    assert said == golden.read_text()


def test_forty_drifts_over_all_layers_are_named_and_nothing_else_and_fit_on_two_screens() -> None:
    found = report(recorded("drift"), check=True)
    assert len(DRIFTS) == 40
    assert {drift.layer for drift in DRIFTS} == {
        line["layer"] for line in report(recorded("first"))["findings"]
    } | LATER
    assert differences(found) == ([], [])
    said = text(found)
    assert len(said) <= TWO_SCREENS
    assert said[0].startswith("site.yml --check: 51 steps to make on 9 hosts, of 11 hosts; 4 steps pending.")
    assert said[2] == "To change: the next run makes these steps"
    assert said[-2].endswith("pending steps have ended, run: ansible-playbook playbooks/site.yml")


def test_a_run_that_was_refused_begins_with_that() -> None:
    """Not with changes that there were none, on a host that only stands for all."""
    findings = [{"kind": "refused", "layer": "playbook", "task": "Check", "text": text, "hosts": ""} for text in "ab"]
    run = {"playbook": "check.yml", "check": False, "hosts": 1, "seconds": 0.61, "findings": findings}
    assert summary(run) == "check.yml: refused: 2 faults. 0.6 s."
