# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.files_io import (
    KEPT,
    earlier,
    keep,
    write,
)

CHECK = {"version": 1, "check": True}


def test_a_file_is_replaced_as_a_whole_and_others_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.json"
    write(path, "one")
    write(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (json.dumps(CHECK), CHECK),
        (json.dumps({**CHECK, "check": False}), None),
        (json.dumps({**CHECK, "version": 0}), None),
        ("[]", None),
        ("{", None),
    ],
)
def test_only_a_report_of_a_check_is_an_earlier_one(tmp_path: Path, content: str, found: object) -> None:
    path = tmp_path / "report.json"
    path.write_text(content)
    assert earlier(str(path)) == found


def test_without_a_file_there_is_no_earlier_report(tmp_path: Path) -> None:
    assert earlier(None) is None
    assert earlier(str(tmp_path / "none")) is None


def test_a_folder_keeps_the_newest_reports(tmp_path: Path) -> None:
    for number in range(KEPT + 2):
        keep(tmp_path / "reports", f"2026-{number:03d}.json", "{}")
    names = sorted(path.name for path in (tmp_path / "reports").iterdir())
    assert (len(names), names[0]) == (KEPT, "2026-002.json")
