# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.io import Accounting
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.plan import (
    AccountingState,
    plan,
)

from tests.unit.module_utils.answers import Answers

WANT = AccountingState.of({"vision": ["ada"], "chem": ["dan"]})


def test_a_cluster_that_is_missing_is_added_by_its_name() -> None:
    run = Answers({"sacctmgr": "", "getent passwd": "ada:x:1\ndan:x:2\n"})
    device = Accounting(run, "lab", WANT)
    device.apply(plan(device.read(), WANT)[:2])
    assert run.asked[-2:] == [
        "sacctmgr -i add cluster lab",
        "sacctmgr -i add account vision,chem parent=root cluster=lab",
    ]
