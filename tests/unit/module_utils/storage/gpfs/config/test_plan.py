# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.config.plan import (
    ConfigState,
    NodeClass,
    plan,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.steps import after

NAME = "drawbridge_h100"
SETTINGS = st.dictionaries(st.sampled_from(["pagepool", "maxMBpS", "workerThreads"]), st.sampled_from(["1", "2G"]))
CLASSES = st.builds(NodeClass, st.frozensets(st.sampled_from(["gpu01", "gpu02"]), min_size=1), SETTINGS)


@given(have=st.none() | CLASSES, want=CLASSES)
def test_from_anywhere_the_steps_end_where_nothing_is_left(have: NodeClass | None, want: NodeClass) -> None:
    wanted = ConfigState({NAME: want})
    state = ConfigState({NAME: have} if have else {})
    assert plan(after(plan(state, wanted), state), wanted) == []
