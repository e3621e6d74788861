# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.partners import Free
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import (
    State,
    Suspect,
)

from tests.unit.module_utils.proof.schedule.simulated import fabric


def at(level: int, trust: dict[str, int], turn: int = 0) -> State:
    state = State(fabric(12, 4), turn)
    state.level, state.trust, state.newest = level, trust, max(trust.values(), default=0)
    return state


def test_a_node_serves_one_task_of_a_round_until_it_is_given_back() -> None:
    free = Free(at(1, {"n0": 1, "n1": 1}))
    assert free.claim(["n0"]) and not free.claim(["n1", "n0"])
    mark = free.mark()
    assert [free.take("u0"), free.take("u0")] == ["n1", None]
    free.undo(mark)
    assert free.take("u0") == "n1" and free.take("u1") is None


def test_those_that_passed_in_this_step_come_first_then_others_in_turn() -> None:
    assert Free(at(2, {"n0": 1, "n1": 2, "n2": 1})).take("u0") == "n1"
    assert {Free(at(1, {"n0": 1, "n1": 1}, turn)).take("u0") for turn in (0, 1)} == {"n0", "n1"}
    assert Free(at(2, {"n0": 1})).take("u0", level=2) is None


def test_a_task_waits_for_its_own_unit_before_it_takes_a_node_behind_a_leaf_pair() -> None:
    state = at(1, {"n1": 1, "n4": 1})
    free = Free(state)
    assert free.claim(["n1"]) and free.partners("u0", 1, (), ["n0"]) is None
    free = Free(at(2, {"n1": 2, "n2": 1}))
    assert free.claim(["n1"]) and free.partners("u0", 1, (), ["n0"]) is None, "n2 has not passed in this step"
    assert Free(state).partners("u0", 1, ["n1"], ["n0"]) == ["n1"], "the only mate, though it was a partner before"
    assert Free(state).partners("u0", 2, (), ["n0"]) == ["n1", "n4"]
    assert Free(state).partners("u0", 0, (), []) == []


def test_no_suspected_leaf_pair_is_between_partners() -> None:
    state = at(1, {"n4": 1, "n8": 1})
    state.slow = {("u0", "u1"), ("u1", "u0")}
    assert Free(state).partners("u0", 1, (), ["n0"]) == ["n8"]
    assert Free(state).partners("u0", 2, (), ["n0"]) is None


def test_suspects_are_no_partners() -> None:
    state = at(1, {"n1": 1, "n4": 1})
    state.name(Suspect("node", ("n1",)))
    assert Free(state).partners("u0", 1, (), ["n0"]) == ["n4"]


def test_before_any_test_has_passed_untested_nodes_are_partners_but_first_those_outside_of_the_failed_group() -> None:
    assert Free(at(1, {})).partners("u0", 1, ["n1"], ["n0"]) == ["n2"]
    free = Free(at(1, {}))
    assert free.claim(f"n{number}" for number in range(2, 12)) and free.partners("u0", 1, ["n1"], ["n0"]) == ["n1"]
    assert free.partners("u0", 1, (), ["n0"]) is None
