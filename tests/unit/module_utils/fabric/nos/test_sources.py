# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every line that a plan would type has its source in sources.yml. For EOS, pyavd's text is the source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS

from tests.golden.plans import HOME

SOURCES = yaml.safe_load(Path(__file__).with_name("sources.yml").read_text())
PLANS = {
    "nvue": "example-rails/switches/store1",
    "sonic": "example-rails/switches/store2",
    "nxos": "example-vendors/switches/leaf01",
    "junos": "example-vendors/switches/leaf03",
    "os10": "example-vendors/switches/leaf05",
}


def lines(system: str) -> list[str]:
    text = (HOME / PLANS[system] / "steps.txt").read_text()
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


@pytest.mark.parametrize("system", PLANS)
def test_each_line_of_a_plan_has_one_source_and_each_source_a_line(system: str) -> None:
    used: set[str] = set()
    for line in lines(system):
        fitting = [row for row in SOURCES[system] if re.fullmatch(row["line"], line)]
        assert len(fitting) == 1, line
        assert fitting[0]["from"]
        used.add(fitting[0]["line"])
    assert [row["line"] for row in SOURCES[system] if row["line"] not in used] == []


def test_all_systems_but_eos_have_sources() -> None:
    assert [*SOURCES] == [*PLANS] == [system for system in SYSTEMS if system != "eos"]
