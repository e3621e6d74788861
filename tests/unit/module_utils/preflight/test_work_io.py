# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight import work_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.work_io import (
    read,
    said,
    together,
)


def test_more_calls_than_threads_all_end() -> None:
    calls = {number: lambda number=number: number for number in range(3 * work_io.AT_ONCE)}
    assert together(calls, limit_s=30) == {number: number for number in calls}


def test_a_missing_file_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert (read(str(tmp_path / "a")), read(str(tmp_path / "b"))) == ("x", "")


def test_a_tool_that_is_missing_or_fails_says_nothing() -> None:
    def fails(argv: Any, ok: Any = (0,)) -> Completed:
        raise DeviceError("no")

    assert said(lambda argv, ok=(0,): Completed(0, "out", ""), "ls") == "out"
    assert said(fails, "ls") is None
    assert said(fails, "drawbridge-has-no-such-tool") is None
