# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.layer import guarded
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.model import Export
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.plan import (
    Mount,
    NfsState,
    plan,
)

EXPORT = Export("filer", "/export/data", "/data", nconnect=4)
MOUNTED = Mount("filer:/export/data", text.owned(text.options(EXPORT)))
UNIT = text.mount_unit(EXPORT, 60)
WANT = NfsState({"/data": MOUNTED}, {"/data": UNIT})


def only(have: NfsState, want: NfsState = WANT) -> Step[NfsState]:
    steps = plan(have, want)
    assert len(steps) == 1, steps
    return steps[0]


def test_an_export_of_another_server_is_mounted_again() -> None:
    step = only(replace(WANT, mounts={"/data": replace(MOUNTED, source="old:/x")}))
    assert step.reason.endswith(" again: old:/x is mounted there") and step.disturbs


def test_another_limit_only_writes_the_unit() -> None:
    step = only(replace(WANT, units={"/data": text.mount_unit(EXPORT, 90)}))
    assert not step.disturbs and step.reason == "write the unit that mounts /data at boot"


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
    assert only(replace(WANT, drained=True)).reason == "let Slurm use the node again"
