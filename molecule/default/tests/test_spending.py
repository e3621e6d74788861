# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""No run costs more than tests/budgets.yml allows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench.budgets import load, over
from bench.counted import Counting, groups, spent
from bench.results import built

from .conftest import SecondRun


@pytest.fixture(scope="module")
def members() -> dict[str, list[str]]:
    """Hosts of every group."""
    return groups()


@pytest.fixture(scope="module")
def by_switch(second_run: SecondRun) -> dict[str, Counter[str]]:
    """What the switches themselves noted of the second run: sessions, and commands that read."""
    noted = {Path(file).parent: calls for file, calls in second_run.calls.items()}
    return {
        folder.name: Counter(
            sessions=sum(call.get("event") == "connect" for call in calls),
            reads=sum(str(call.get("line", "")).startswith("show") for call in calls),
        )
        for folder, calls in noted.items()
        if folder.parent.name == "switches"
    }


def test_the_first_run(members: dict[str, list[str]], counted: Path) -> None:
    """Counted while molecule converged; molecule.yml says so."""
    report = Counting(counted).report("converge")
    assert built(report, members["nodes"]), "converge ran more than once; a first run is seen by: molecule test"
    assert over(load(), "first", members, spent(report)) == []


def test_the_second_run(
    second_run: SecondRun, members: dict[str, list[str]], by_switch: dict[str, Counter[str]]
) -> None:
    reads = {name: seen["reads"] for name, seen in by_switch.items()}
    assert over(load(), "second", members, {**spent(second_run.report), "reads": reads}) == []


def test_relay_and_switches_count_the_same_sessions(
    second_run: SecondRun, members: dict[str, list[str]], by_switch: dict[str, Counter[str]]
) -> None:
    counted = spent(second_run.report)["sessions"]
    assert {name: counted[name] for name in members["switches"]} == {
        name: seen["sessions"] for name, seen in by_switch.items()
    }
