# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from bench.budgets import Budget, goal, load, over

BUDGETS = [Budget("results", "second", "nodes", 3, "each costs"), Budget("reads", "second", "switches", 4, "slow")]
GROUPS = {"nodes": ["gpu01", "gpu02"], "switches": ["leaf1"]}
KEPT = {"results": {"gpu01": 3, "gpu02": 1, "ctl": 99}, "reads": {"leaf1": 4}}


def test_what_is_kept_is_not_spoken_of() -> None:
    assert over(BUDGETS, "second", GROUPS, KEPT) == []


def test_one_above_is_named_with_the_reason_of_the_budget() -> None:
    spent = {**KEPT, "results": {"gpu01": 3, "gpu02": 4}}
    assert over(BUDGETS, "second", GROUPS, spent) == [
        "gpu02: the second run took 4 results, the budget is 3, because each costs"
    ]


@pytest.mark.parametrize("spent", [{**KEPT, "reads": {}}, {"results": KEPT["results"]}])
def test_what_nobody_counted_is_not_kept(spent: dict[str, dict[str, int]]) -> None:
    assert over(BUDGETS, "second", GROUPS, spent) == ["leaf1: nobody counted the second run's reads"]


def test_an_empty_group_proves_nothing() -> None:
    (sentence,) = over(BUDGETS, "second", {**GROUPS, "switches": []}, KEPT)
    assert sentence == "the second run's reads of switches can't be judged: the group has no hosts"


def test_budgets_of_other_runs_do_not_count() -> None:
    assert over(BUDGETS, "first", {}, {}) == []


def test_the_file_is_read_whole_and_every_budget_has_its_reason() -> None:
    budgets = load()
    limits = {(budget.kind, budget.run, budget.group): budget.at_most for budget in budgets}
    assert limits == {
        ("results", "first", "nodes"): 40,
        ("results", "second", "nodes"): 35,
        ("sessions", "second", "nodes"): 1,
        ("sessions", "second", "switches"): 1,
        ("reads", "second", "switches"): 4,
    }
    assert all(len(budget.because) > 40 for budget in budgets)
    assert goal("converge / modules") == 1.5
