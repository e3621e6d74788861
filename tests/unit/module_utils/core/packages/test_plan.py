# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.plan import (
    PackageState,
    plan,
)

WANT = PackageState(frozenset({"munge", "slurmd"}))


@pytest.mark.parametrize(
    ("have", "packages"),
    [
        (PackageState(frozenset()), [["munge", "slurmd"]]),
        (PackageState(frozenset({"munge"})), [["slurmd"]]),
        (PackageState(frozenset({"munge"}), cut_off=True), [[], ["slurmd"]]),
        (WANT, []),
    ],
)
def test_missing_packages_are_one_transaction_after_a_cut_off_one(have: PackageState, packages: list[object]) -> None:
    steps = plan(have, WANT)
    assert [step.payload for step in steps] == packages
    assert all(step.reason == f"install {', '.join(step.payload)}" for step in steps if step.payload)
    for step in steps:
        have = step.becomes(have)
    assert have == WANT
