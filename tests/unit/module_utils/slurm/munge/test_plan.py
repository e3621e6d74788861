# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.munge.plan import (
    MungeState,
    digest_of,
    plan,
)

from tests.unit.module_utils.steps import after

WANT = MungeState(digest_of(b"key"))


@pytest.mark.parametrize("digest", ["", digest_of(b"other"), WANT.digest])
@pytest.mark.parametrize(("enabled", "active", "current"), list(itertools.product([False, True], repeat=3)))
def test_the_steps_lead_to_the_wanted_state(digest: str, enabled: bool, active: bool, current: bool) -> None:
    have = MungeState(digest, enabled, active, active and current)
    assert after(plan(have, WANT), have) == WANT
    assert bool(plan(have, WANT)) == (have != WANT)


def test_the_key_comes_before_the_daemon() -> None:
    steps = [step.payload for step in plan(MungeState("", False, False, False), WANT)]
    assert steps == ["key", "enable", "start"]


def test_the_diff_never_shows_the_key() -> None:
    assert WANT.lines() == [f"key sha256:{digest_of(b'key')}", "munge.service enabled running"]
    assert MungeState("", current=False).lines()[1].endswith("running with an older key")
