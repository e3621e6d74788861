# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`--check` of the whole site on bare hosts, which molecule ran before it converged, has only read."""

from __future__ import annotations

from pathlib import Path

from .conftest import Lab


def test_check_wrote_to_no_device(lab: Lab, counted: Path) -> None:
    """By the devices' own journals, up to the moment when the check's costs were written down."""
    report = counted / "converge-check.json"
    assert report.is_file(), "nothing was checked; a check of bare hosts is seen by: molecule test"
    over = report.stat().st_mtime
    calls = [call for noted in lab.journals().values() for call in noted if call["time"] < over]
    assert [call for call in calls if call.get("writes")] == []
    assert calls, "no device was asked before, so this proves nothing"
