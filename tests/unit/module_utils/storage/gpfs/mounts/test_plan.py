# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mounts.plan import (
    Mounts,
    plan,
)

WANT = Mounts({"fs1": "/gpfs/fs1", "scratch": "/gpfs/scratch"})


def test_what_is_mounted_in_its_place_stays() -> None:
    assert plan(WANT, WANT) == []


def test_only_what_is_missing_or_elsewhere_is_mounted() -> None:
    steps = plan(Mounts({"fs1": "/gpfs/fs1", "scratch": "/mnt"}), WANT)
    assert [(step.reason, step.payload) for step in steps] == [
        ("mount scratch at /gpfs/scratch", ("scratch", "/gpfs/scratch"))
    ]
    assert steps[0].becomes(Mounts({"fs1": "/gpfs/fs1"})) == WANT


def test_other_file_systems_are_not_ours() -> None:
    assert plan(Mounts({**WANT.paths, "old": "/old"}), WANT) == []
