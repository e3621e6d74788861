# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.config.plan import (
    ConfigState,
    NodeClass,
    plan,
)
from hypothesis import given
from hypothesis import strategies as st

NAME = "drawbridge_h100"
SETTINGS = st.dictionaries(st.sampled_from(["pagepool", "maxMBpS", "workerThreads"]), st.sampled_from(["1", "2G"]))
CLASSES = st.builds(NodeClass, st.frozensets(st.sampled_from(["gpu01", "gpu02"]), min_size=1), SETTINGS)


@given(have=st.none() | CLASSES, want=CLASSES)
def test_from_anywhere_the_steps_end_where_nothing_is_left(have: NodeClass | None, want: NodeClass) -> None:
    wanted = ConfigState({NAME: want})
    state = ConfigState({NAME: have} if have else {})
    after = reduce(lambda it, step: step.becomes(it), plan(state, wanted), state)
    assert plan(after, wanted) == []


def test_only_attributes_that_can_be_are_set_at_once_and_the_page_pool_never_is() -> None:
    wanted = ConfigState({NAME: NodeClass(frozenset({"gpu01"}), {"maxMBpS": "5000", "pagepool": "16G"})})
    steps = plan(ConfigState({NAME: NodeClass(frozenset({"gpu01"}))}), wanted)
    assert [(dict(step.payload.settings), step.payload.now) for step in steps] == [
        ({"maxMBpS": "5000"}, True),
        ({"pagepool": "16G"}, False),
    ]


def test_part_of_the_nodes_takes_no_other_out() -> None:
    have = ConfigState({NAME: NodeClass(frozenset({"gpu01", "gpu02"}))})
    assert plan(have, ConfigState({NAME: NodeClass(frozenset({"gpu01"}))}, partial=True)) == []
