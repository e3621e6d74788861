# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.layer import guarded
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.model import Export
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.plan import (
    STALE,
    Mount,
    NfsState,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.text import (
    mount_unit,
    options,
    owned,
)

EXPORT = Export("filer", "/export/data", "/data", nconnect=4)
MOUNTED = Mount("filer:/export/data", owned(options(EXPORT)))
UNIT = mount_unit(EXPORT, 60)
WANT = NfsState({"/data": MOUNTED}, {"/data": UNIT})


def only(have: NfsState, want: NfsState = WANT) -> Step[NfsState]:
    steps = plan(have, want)
    assert len(steps) == 1, steps
    return steps[0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"mounts": {"/data": replace(MOUNTED, shown={**MOUNTED.shown, "vers": "4.1"})}}, "vers is 4.1 instead of 4.2"),
        ({"mounts": {"/data": replace(MOUNTED, source="old:/x")}}, "old:/x"),
        # the kernel does not show such an option
        ({"units": {"/data": UNIT.replace("hard", "hard,noatime")}}, "options were"),
    ],
)
def test_another_version_is_mounted_again(change: dict[str, Any], why: str) -> None:
    step = only(replace(WANT, **change))
    assert why in step.reason.partition(" again: ")[2] and step.disturbs


def test_another_limit_only_writes_the_unit() -> None:
    step = only(replace(WANT, units={"/data": mount_unit(EXPORT, 90)}))
    assert not step.disturbs and step.reason == "write the unit that mounts /data at boot"


def test_a_stale_mount_is_made_again_and_one_that_hangs_is_left() -> None:
    assert only(replace(WANT, mounts={"/data": replace(MOUNTED, finding=STALE)})).disturbs
    hung = only(replace(WANT, mounts={"/data": replace(MOUNTED, finding="gave no answer within 10 s")}))
    assert not hung.disturbs and "filer:/export/data at /data gave no answer within 10 s; check" in hung.refused


def test_an_export_that_the_intent_lost_is_unmounted() -> None:
    want = NfsState({}, {})
    step = only(WANT, want)
    assert step.disturbs and step.becomes(WANT) == want
    assert not only(replace(WANT, mounts={}), want).disturbs


def test_nothing_is_unmounted_where_slurm_may_start_jobs() -> None:
    want = NfsState({}, {})
    assert [step.refused for step in guarded(lambda: "drain it first", WANT, want)] == ["drain it first"]
    assert [step.refused for step in guarded(lambda: "", WANT, want)] == [""]


def test_slurm_is_left_alone_if_nothing_is_unmounted() -> None:
    def unasked() -> str:
        raise AssertionError

    assert len(guarded(unasked, NfsState({}, {}, client=False), WANT)) == 2


def test_a_drain_that_a_killed_run_left_is_lifted() -> None:
    assert only(replace(WANT, held=True)).reason == "let Slurm use the node again"
