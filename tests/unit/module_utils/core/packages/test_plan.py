# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.plan import (
    PackageState,
    plan,
)

WANT = PackageState(frozenset({"munge", "slurmd"}))


def test_all_that_is_missing_is_one_transaction() -> None:
    (step,) = plan(PackageState(frozenset()), WANT)
    assert (step.reason, step.payload) == ("install munge, slurmd", ["munge", "slurmd"])
    assert step.becomes(PackageState(frozenset())) == WANT


def test_what_is_there_is_not_asked_for_again() -> None:
    (step,) = plan(PackageState(frozenset({"munge"})), WANT)
    assert step.payload == ["slurmd"]
    assert plan(WANT, WANT) == []


def test_what_was_cut_off_is_finished_before_the_rest() -> None:
    have = PackageState(frozenset({"munge"}), cut_off=True)
    steps = plan(have, WANT)
    assert [step.payload for step in steps] == [[], ["slurmd"]]
    for step in steps:
        have = step.becomes(have)
    assert have == WANT
