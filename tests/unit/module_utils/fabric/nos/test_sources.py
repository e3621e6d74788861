# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every line that plans of the example sites would type on a switch has its source in sources.yml."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.golden.plans import HOME
from tests.unit.module_utils.site.test_refused import site

SOURCES = yaml.safe_load(Path(__file__).with_name("sources.yml").read_text())
PLANS = sorted(HOME.glob("*/switches/*/steps.txt"))


def platform(plan: Path) -> str:
    """The system of a plan's switch."""
    fabric = load(site(plan.relative_to(HOME).parts[0])).fabric
    assert fabric
    return next(kind.platform for kind in fabric.switches if hostlist.contains(kind.names, plan.parent.name))


def lines(plan: Path) -> list[str]:
    return [line.strip() for line in plan.read_text().splitlines() if line.startswith("    ")]


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_line_of_the_plans_has_one_source_and_each_source_a_line(system: str) -> None:
    plans = [plan for plan in PLANS if platform(plan) == system]
    assert plans
    used: set[str] = set()
    for line in [line for plan in plans for line in lines(plan)]:
        fitting = [row for row in SOURCES[system] if re.fullmatch(row["line"], line)]
        assert len(fitting) == 1, line
        assert fitting[0]["from"]
        used.add(fitting[0]["line"])
    assert [row["line"] for row in SOURCES[system] if row["line"] not in used] == []


def test_no_source_is_of_another_system() -> None:
    assert [*SOURCES] == [*SYSTEMS]
