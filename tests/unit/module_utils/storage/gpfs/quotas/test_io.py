# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers that are no report. The rest is in test_mm_quota.py."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.quotas.io import Quotas
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.quotas.plan import (
    Pair,
    Quota,
    QuotaState,
    plan,
)

from tests.unit.module_utils.answers import Answers

FS = "mmlsfs::HEADER:version:reserved:reserved:deviceName:fieldName:data:remarks:\n"
ATTRIBUTES = "mmlsfs::0:1:::fs1:blockSize:4194304::\nmmlsfs::0:1:::fs1:quotasEnforced:{}::\n"
HEADER = (
    "mmrepquota::HEADER:version:reserved:reserved:filesystemName:quotaType:id:name:blockUsage:blockQuota:blockLimit:"
    "blockInDoubt:blockGrace:filesUsage:filesQuota:filesLimit:filesInDoubt:filesGrace:remarks:quota:defQuota:\n"
)
ROW = "mmrepquota::0:1:::fs1:FILESET:2:a:0:8192:8192:0:none:1:7:7:0:none:e:{}:off:\n"
WANT = QuotaState({"a": Quota(Pair.both(5000), Pair.both(7))})
ENFORCED = "user;group;fileset"


def device(report: str, enforced: str = ENFORCED) -> tuple[Quotas, Answers]:
    run = Answers({"/mm/mmlsfs": FS + ATTRIBUTES.format(enforced), "/mm/mmrepquota": report, "/mm/mmsetquota": ""})
    return Quotas(Mm(run, "/mm"), "fs1", WANT), run


def test_one_report_is_enough_and_the_device_comes_last() -> None:
    quotas, run = device(HEADER + ROW.format("on"))
    assert quotas.read() == WANT
    assert run.asked == ["/mm/mmlsfs fs1 -Y", "/mm/mmrepquota -Y -j fs1"]


def test_a_report_without_rows_is_no_limit() -> None:
    quotas, run = device(f"*** Report for FILESET quotas on fs1\n{HEADER}")
    quotas.apply(plan(quotas.read(), WANT))
    assert run.asked[-1] == "/mm/mmsetquota fs1:a --block 5000K:5000K --files 7:7"


@pytest.mark.parametrize(
    ("report", "why"),
    [
        ("", "mmrepquota -Y printed no header"),
        ("mmrepquota: GPFS is down on this node.\n", "GPFS is down on this node"),
        ("fs1: no quota management enabled\n", "printed no header"),
        (HEADER + ROW.format("on").replace("8192", "?"), "fileset a has '\\?' as blockQuota"),
        (HEADER + ROW.format("on")[:-1], "the answer ends within a line"),
    ],
)
def test_an_answer_with_exit_0_that_is_no_report_is_refused(report: str, why: str) -> None:
    with pytest.raises(DeviceError, match=why):
        device(report)[0].read()


def test_quotas_that_are_not_enforced_are_not_read() -> None:
    quotas, run = device("", "none")
    found = quotas.read()
    assert found.quotas == {} and "mmchfs fs1 -Q yes" in found.faults[0]
    assert run.asked == ["/mm/mmlsfs fs1 -Y"]


def test_quotas_that_the_report_calls_off_are_refused() -> None:
    [step] = plan(device(HEADER + ROW.format("off"))[0].read(), WANT)
    assert "mmquotaon -j fs1" in step.refused
