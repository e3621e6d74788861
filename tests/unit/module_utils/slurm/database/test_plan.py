# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.database.plan import (
    DatabaseState,
    plan,
)

from tests.unit.module_utils.steps import after

WANT = DatabaseState("slurm_acct_db", "slurm")


STATES = [DatabaseState("slurm_acct_db", "slurm", *there) for there in itertools.product([False, True], repeat=3)]


@pytest.mark.parametrize("have", STATES)
def test_the_steps_lead_to_the_wanted_state(have: DatabaseState) -> None:
    assert after(plan(have, WANT), have) == WANT
    assert bool(plan(have, WANT)) == (have != WANT)


def test_there_is_no_password() -> None:
    assert WANT.lines()[1] == "CREATE OR REPLACE USER 'slurm'@'localhost' IDENTIFIED VIA unix_socket"
