# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.explorer.needs import NEEDS
from tests.explorer.plan import FATES, LOCAL, OUTAGES, plan_of
from tests.explorer.steps import STEPS, targets

AIMS = targets()


def test_a_seed_is_always_the_same_schedule() -> None:
    assert [plan_of(seed, AIMS) for seed in range(50)] == [plan_of(seed, AIMS) for seed in range(50)]
    assert len({str(plan_of(seed, AIMS)) for seed in range(50)}) == 50


def test_every_fault_at_every_step_is_some_seeds_turn() -> None:
    aimed = [plan_of(seed, AIMS).strikes for seed in range(len(AIMS))]
    for (verb, step, fault), strikes in zip(AIMS, aimed, strict=True):
        assert strikes[verb, step][0] == fault


@pytest.mark.parametrize("focus", [*FATES, *OUTAGES, *LOCAL])
def test_what_is_in_focus_happens_in_each(focus: str) -> None:
    assert all(focus in {event.name for event in plan_of(seed, AIMS, focus).events} for seed in range(20))


def test_what_a_step_needs_is_there() -> None:
    assert set(NEEDS) <= {(verb, step) for verb, steps in STEPS.items() for step in steps}
    for need in NEEDS.values():
        assert {name for name, _, _ in need.events} <= {*FATES, *OUTAGES, *LOCAL}
        assert {(verb, step, fault) for (verb, step), fault in need.strikes} <= set(AIMS)


def test_all_that_goes_wrong_is_over_before_the_bound_runs() -> None:
    for seed in range(200):
        plan = plan_of(seed, AIMS)
        assert all(event.at + event.lasts < plan.over_at for event in plan.events)
