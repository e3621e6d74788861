# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Compares counts of a run with tests/budgets.yml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from bench.counted import ROOT

BUDGETS = ROOT / "tests/budgets.yml"
KINDS = ("results", "sessions", "kilobytes", "reads")
Spent = Mapping[str, Mapping[str, int]]
"""Numbers by kind and host."""


@dataclass(frozen=True)
class Budget:
    """At most so many of a kind, on each host of a group, in a run."""

    kind: str
    run: str
    group: str
    at_most: int
    because: str


def load(text: str | None = None) -> list[Budget]:
    """All budgets of hosts, in the file's order."""
    content = yaml.safe_load(BUDGETS.read_text() if text is None else text)
    return [Budget(kind, **entry) for kind in KINDS for entry in content.get(kind) or []]


def goal(name: str) -> float:
    """What a number of bench/nodes.py should be at most."""
    (found,) = [entry for entry in yaml.safe_load(BUDGETS.read_text())["goals"] if entry["name"] == name]
    return float(found["at_most"])


def over(budgets: Sequence[Budget], run: str, groups: Mapping[str, Sequence[str]], spent: Spent) -> list[str]:
    """A sentence for each host above a budget of this run, and for each without a count."""
    found = []
    for budget in [budget for budget in budgets if budget.run == run]:
        hosts = groups.get(budget.group, ())
        if not hosts:
            found.append(f"the {run} run's {budget.kind} of {budget.group} can't be judged: the group has no hosts")
        for host in hosts:
            count = spent.get(budget.kind, {}).get(host)
            if count is None:
                found.append(f"{host}: the {run} run's {budget.kind} were not counted")
            elif count > budget.at_most:
                found.append(
                    f"{host}: the {run} run took {count} {budget.kind}, the budget is {budget.at_most},"
                    f" because {budget.because.strip()}"
                )
    return found
