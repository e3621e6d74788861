# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure, Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import fio_text

from tests.unit.module_utils.proof.transcripts import changed, near, printed

SHOWN = printed("fio")
DENIED = "fio: pid=0, err=13/file:filesetup.c:454, func=fstat, error=Permission denied\n"


def missing(stdout: str, code: int = 0, stderr: str = "", direction: str = "read") -> str:
    found = fio_text.measures(stdout, stderr, code, "gpu01 /scratch", [direction])
    assert [one.name for one in found] == [f"{direction} bandwidth", f"{direction} operations"]
    [why] = {one.why for one in found if isinstance(one, Missing)}
    assert all(isinstance(one, Missing) and one.where == "gpu01 /scratch" for one in found)
    return why


def test_rates_come_from_bytes_and_not_from_bw() -> None:
    """The field bw is in KiB a second."""
    found = fio_text.measures(SHOWN, "", 0, "gpu01 /scratch", ["read"])
    assert found == [
        Measure("read bandwidth", near(2.505397589), "GB/s", "gpu01 /scratch"),
        Measure("read operations", near(2389.333333), "ops/s", "gpu01 /scratch"),
    ]
    assert found == fio_text.measures(f"note: both iodepth >= 1\n{SHOWN}", "", 0, "gpu01 /scratch", ["read"])


def test_jobs_without_group_reporting_are_added() -> None:
    shown = json.loads(SHOWN)
    shown["jobs"] *= 2
    first, *_rest = fio_text.measures(json.dumps(shown), "", 0, "x", ["read"])
    assert first == Measure("read bandwidth", near(5.010795178), "GB/s", "x")
    shown["jobs"] = [shown["jobs"][0], {**shown["jobs"][1], "read": {}}]
    assert missing(json.dumps(shown)) == "1 of 2 jobs did no read"


def test_a_direction_without_bytes_is_missing() -> None:
    assert missing(SHOWN, direction="write") == "1 of 1 jobs did no write"


def test_error_lines_before_the_json() -> None:
    failed = DENIED + changed(SHOWN, '"error" : 0', '"error" : 13')
    assert missing(failed, 1) == f"job read failed with EACCES: {DENIED.strip()}"
    full = changed(SHOWN, '"error" : 0', '"error" : 28')
    assert missing(full, 0) == "job read failed with ENOSPC"
    assert missing(DENIED + SHOWN, 1) == f"exit code 1: {DENIED.strip()}" and "no error line" in missing(SHOWN, 1)


@pytest.mark.parametrize(
    ("stdout", "stderr", "code", "why"),
    [
        ("", "fio: engine nosuch not loadable\n", 1, "fio: engine nosuch not loadable"),
        (f"fio: file hash not empty on exit\n{DENIED}", "", 1, DENIED.strip()),
        ("", "", 0, "not recognised (exit code 0): no output"),
        (SHOWN[:200], "", 0, "not recognised (exit code 0): {"),
        ("{}", "", 0, "the JSON has no jobs"),
        ('{"jobs": [{"read": {"bw_bytes": 9}}]}', "", 0, "job None failed with no error field"),
        (SHOWN, "", 124, "it hung: no result before the time limit (exit code 124)"),
    ],
)
def test_a_run_without_a_result(stdout: str, stderr: str, code: int, why: str) -> None:
    assert missing(stdout, code, stderr) == why
