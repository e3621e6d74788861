# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.new_plan import (
    ABSENT,
    NewNodes,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.ready_plan import (
    RETIRING,
    NodeState,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.retire_plan import (
    retire,
    retired,
)

WANT = retired(["gpu05"])


def nodes(state: str, *flags: str, reason: str = "") -> NewNodes:
    return NewNodes({"gpu05": NodeState("gpu05", state, frozenset(flags), reason=reason)})


@pytest.mark.parametrize("state", ["IDLE", "MIXED", "ALLOCATED", "DOWN", "UNKNOWN"])
def test_a_node_that_may_get_jobs_is_drained_once(state: str) -> None:
    have = nodes(state)
    (step,) = retire(have, WANT)
    assert step.reason == "drain gpu05, which retires"
    after = step.becomes(have)
    assert after.nodes["gpu05"].reason == RETIRING
    assert retire(after, WANT) == []


@pytest.mark.parametrize(
    "have", [nodes(ABSENT), nodes("IDLE", "DRAIN", reason="disk [ada@now]"), nodes("DOWN", "DRAIN")]
)
def test_a_drained_node_keeps_its_reason(have: NewNodes) -> None:
    assert retire(have, WANT) == []
