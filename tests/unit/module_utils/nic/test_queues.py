# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.queues import (
    ETS,
    PRIORITIES,
    STRICT,
    own_classes,
    shared,
)
from hypothesis import given
from hypothesis import strategies as st

SHARES = st.dictionaries(st.integers(0, 7), st.integers(0, 14), min_size=1, max_size=7)


def test_listed_priorities_have_a_class_of_their_own_and_the_others_the_rest() -> None:
    others, control = (0, "ets", 50), (6, "strict", 0)
    assert shared({3: 50, 6: 0}) == (*[others] * 3, (3, "ets", 50), others, others, control, others)
    assert shared({0: 60})[:2] == ((0, "ets", 60), (1, "ets", 40))
    assert shared({}) == ()


@given(percent=SHARES)
def test_shares_of_a_link_are_whole_and_no_two_listed_priorities_share_a_queue(percent: dict[int, int]) -> None:
    queues = shared(percent)
    assert sum(share for _, algorithm, share in set(queues) if algorithm == "ets") == 100
    assert len({queues[priority][0] for priority in percent}) == len(percent)


def test_with_classes_of_their_own_the_others_leave_most_to_unmarked_packets() -> None:
    assert [it[1:] for it in own_classes(shared({3: 50, 6: 0}))] == [
        *[(ETS, 45), (ETS, 1), (ETS, 1), (ETS, 50), (ETS, 1), (ETS, 1), (STRICT, 0), (ETS, 1)]
    ]
    assert [it[2] for it in own_classes(shared({3: 97, 6: 0}))] == [3, 0, 0, 97, 0, 0, 0, 0], "too little for all"
    assert [it[2] for it in own_classes(shared({0: 50, 6: 0}))] == [50, 45, 1, 1, 1, 1, 0, 1]


@given(percent=SHARES)
def test_each_class_of_one_priority_keeps_its_share_and_the_others_together_theirs(percent: dict[int, int]) -> None:
    """What ice can have of an intent: it is whole, and the same again when it is made of itself."""
    queues = shared(percent)
    own = own_classes(queues)
    assert [it[0] for it in own] == list(PRIORITIES)
    assert [own[it] for it in percent] == [queues[it] for it in percent]
    assert [it[1] for it in own] == [it[1] for it in queues]
    assert sum(share for _, _, share in own) == 100 and min(share for _, _, share in own) >= 0
    assert own_classes(own) == own
