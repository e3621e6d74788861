# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines, JSON and CSV of several projects."""

from __future__ import annotations

import csv
import io

from roles.drawbridge_status.files.project import list_view
from tests.unit.roles.drawbridge_status.project.project_scene import GIB, TIB, TODAY, seen

NEAR = TIB._replace(used=1000 * GIB)


def test_a_line_for_each_project_then_what_needs_attention() -> None:
    found = [seen(), seen(NEAR, name="bio", ends="2026-11-20", budget=None)]
    count, note, _blank, head, first, second, _blank2, *said = list_view.lines(found, TODAY, ["x"])
    assert (count, note, head.split()) == ("2 projects.", "Note: x", list(list_view.HEAD))
    assert " ".join(first.split()) == (
        "vision open 2027-03-31 (in 122 days) GPU 1 of 100 (1 %), again 2026-12-01 512 GiB of 1 TiB (50 %) "
        "250 k of 1 M (25 %)"
    )
    assert " ".join(second.split()).startswith("bio ended 2026-11-20 (9 days ago) - 1000 GiB of 1 TiB (98 %)")
    assert said == [
        "project bio: it ended on 2026-11-20: no new jobs, no access to its directory",
        "project bio: space: 1000 GiB of 1 TiB (98 %)",
    ]


def test_no_project() -> None:
    assert list_view.lines([], TODAY, ["Slurm has no project of yours"]) == [
        "0 projects.",
        "Note: Slurm has no project of yours",
    ]
    assert list_view.lines([seen()], TODAY)[0] == "1 project."


def test_json_has_stable_keys() -> None:
    shown = list_view.document([seen()], TODAY, 0, ["x"])
    assert [*shown] == ["version", "level", "notes", "projects"]
    [one] = shown["projects"]
    assert [*one] == [
        *("name", "state", "ends", "level", "findings", "budget", "space", "files", "people", "takes_jobs"),
        *("partitions", "qos", "fair_share", "limits", "namespace", "directory", "claims", "data", "images", "jobs"),
        *("coming", "closed"),
    ]
    assert one["budget"] == {
        "hours": {"GPU hours": {"limit": 100.0, "used": 1.0, "running": 0.0}},
        "period": "month",
        "begins_anew": "2026-12-01",
    }
    assert one["space"] == {"limit": 1 << 40, "used": 512 * GIB}
    assert one["directory"]["now"] == {"owner": "root", "group": "vision", "mode": "2770"}
    assert (one["people"], one["takes_jobs"], one["limits"]["total"]) == (["ada", "ben"], True, {"gpus": 64})


def test_an_unknown_number_is_null_and_an_empty_cell() -> None:
    unknown = seen(None)._replace(account=None, known=False, usage=None, jobs=None)
    one = list_view.plain(unknown, TODAY)
    assert (one["people"], one["takes_jobs"], one["jobs"], one["space"]["used"]) == (None, None, None, None)
    assert one["budget"]["hours"]["GPU hours"] == {"limit": 100.0, "used": None, "running": None}
    text = list_view.table([list_view.row(unknown, TODAY), list_view.row(seen(), TODAY)], list_view.COLUMNS)
    first, second = csv.DictReader(io.StringIO(text))
    assert (first["gpu_hours_used"], first["gpu_hours_budget"]) == ("", "100.000")
    assert (second["gpu_hours_used"], second["space_bytes_used"]) == ("1.000", str(512 * GIB))
