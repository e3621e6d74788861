# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A report as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from roles.drawbridge_status.files.project import report_view, slurm_text
from roles.drawbridge_status.files.project.month import Month
from roles.drawbridge_status.files.project.report import Report
from roles.drawbridge_status.files.project.slurm_text import Hours
from tests.unit.roles.drawbridge_status.project.project_scene import GIB, NOW, sections, seen

MONTH = Month.of("", NOW)
HOURS = {"ada": Hours(54.0, 49.5, 7.5), "ben": Hours(65.5, 65.5, 9.5)}
REPORT = Report(seen(), MONTH, HOURS, slurm_text.parsed_runs(sections("24.11")["cleo sacct"]))
SILENT = Report(seen(None)._replace(usage=None), MONTH, None, None)


def words(lines: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def test_text() -> None:
    found = words(report_view.lines(REPORT, ["x"]))
    assert found[:2] == ["project vision, 2026-11 up to now: Slurm adds up each hour when it is over", "Note: x"]
    assert found[3:7] == [
        "USER GPU HOURS CPU HOURS NODE HOURS JOBS",
        "ben 65.5 65.5 9.5 4",
        "ada 54.0 49.5 7.5 2",
        "all 119.5 115.0 17.0 6",
    ]
    assert found[8:12] == [
        "budget GPU hours 1 of 100 (1 %), each month",
        "wait 5 jobs began; median 03:00:00, 95 % within 03:00:00",
        "space 512 GiB of 1 TiB (50 %) on 2026-11-29",
        "files 250 k of 1 M (25 %) on 2026-11-29",
    ]
    assert found[13:15] == ["JOB USER GPU HOURS GPUS RAN STATE", "3 ben 64.0 16 04:00:00 COMPLETED"]


def test_text_without_answers() -> None:
    found = words(report_view.lines(SILENT))
    assert "not known" in found and "wait not known" in found and "budget GPU hours ? of 100, each month" in found
    assert "wait no job began" in words(report_view.lines(replace(REPORT, runs=[])))
    assert "ben 65.5 65.5 9.5 ?" in words(report_view.lines(replace(REPORT, runs=None)))
    over = report_view.lines(replace(REPORT, month=Month.of("2026-10", NOW)))
    assert over[0] == "project vision, 2026-10"


def test_json_has_stable_keys() -> None:
    shown = report_view.document(REPORT, 0, ["x"])
    assert [*shown] == [
        *("version", "level", "notes", "month", "complete", "first", "after", "project", "state", "only_own_use"),
        *("hours", "budget", "space", "files", "users", "wait", "jobs"),
    ]
    assert (shown["month"], shown["complete"], shown["after"]) == ("2026-11", False, "2026-12-01")
    assert shown["hours"] == {"gpu_hours": 119.5, "cpu_hours": 115.0, "node_hours": 17.0}
    assert shown["budget"] == {"hours": {"GPU hours": {"limit": 100.0, "used": 1.0}}, "period": "month"}
    assert shown["users"][0] == {"user": "ada", "gpu_hours": 54.0, "cpu_hours": 49.5, "node_hours": 7.5, "jobs": 2}
    assert shown["wait"] == {"jobs": 5, "median_s": 10800.0, "p95_s": 10800.0}
    assert shown["jobs"][0]["gpu_hours"] == 64.0
    assert shown["space"] == {"limit": 1 << 40, "used": 512 * GIB}


def test_an_unknown_number_is_null() -> None:
    shown = report_view.document(SILENT, 3, [])
    assert [shown[key] for key in ("hours", "users", "wait", "jobs")] == [None] * 4
    assert report_view.document(replace(REPORT, runs=[]), 0, [])["wait"] == {"jobs": 0, "median_s": None, "p95_s": None}


def test_csv_has_a_header_and_a_row_for_each_user() -> None:
    lines = report_view.users_table(REPORT).splitlines()
    assert lines == [
        "project,month,user,gpu_hours,cpu_hours,node_hours,jobs",
        "vision,2026-11,ada,54.000,49.500,7.500,2",
        "vision,2026-11,ben,65.500,65.500,9.500,4",
    ]
    assert report_view.users_table(SILENT).splitlines() == lines[:1]


def test_all_projects_have_a_row_each() -> None:
    reports = [REPORT, replace(SILENT, seen=seen(None, name="bio", budget=None))]
    text = words(report_view.all_lines(reports, MONTH, ["x"]))
    assert text[0].startswith("2 projects, 2026-11 up to now") and text[1] == "Note: x"
    assert text[4] == "vision open 119.5 115.0 17.0 GPU 1 of 100 (1 %) 512 GiB of 1 TiB (50 %) 250 k of 1 M (25 %)"
    assert text[5] == "bio open ? ? ? - ? of 1 TiB ? of 1 M"
    first, second = csv.DictReader(io.StringIO(report_view.all_table(reports)))
    assert (first["project"], first["gpu_hours"], first["users"], first["period"]) == (
        "vision",
        "119.500",
        "2",
        "month",
    )
    assert (first["gpu_hours_budget"], first["space_bytes_used"]) == ("100.000", str(512 * GIB))
    assert (second["gpu_hours"], second["users"], second["files_used"]) == ("", "", "")
    shown = report_view.all_document(reports, MONTH, 1, ["x"])
    assert [*shown] == ["version", "level", "notes", "month", "complete", "first", "after", "projects"]
    assert [it["users"] for it in shown["projects"]] == [2, None]
