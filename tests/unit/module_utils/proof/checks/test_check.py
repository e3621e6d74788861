# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    ALONE,
    STATE,
    Check,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.limits import NoLimit, judge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode


def test_a_check_of_files_or_programs_alone_judges_nothing_and_runs_on_each_node() -> None:
    check, node = Check("a", STATE, "", "", lambda _: True, lambda *_: []), ProofNode("n1", "big")
    assert (check.programs(node), check.files(node), check.when) == ((), (), ALONE)
    measure = Measure("rate", 1.0, "GB/s", "n1")
    limit = check.limit(node, measure)
    assert isinstance(limit, NoLimit)
    assert judge(measure, limit) is None
