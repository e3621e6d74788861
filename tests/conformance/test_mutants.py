# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of planted defects follows the code, and its judge is just."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.scenario import seen as reported
from tests.mutants.table import Mutant, Seen, faults, of, read, share, verdict

GREEN = Seen("t.py::test", "call", "passed", "")
ROW = Mutant("name", "source.py", "a < b", "a <= b", "t.py::test", "why")


def test_every_defect_can_be_planted() -> None:
    assert faults(read()) == []


def test_both_levels_have_defects() -> None:
    rows = read()
    assert sum(row.level == "unit" for row in rows) >= 40
    assert sum(row.level == "lab" for row in rows) >= 3
    assert {row.level for row in rows} == {"unit", "lab"}
    for row in rows:
        assert row.test.startswith("molecule/") is (row.level == "lab"), row.name
        assert row.apply("x" + row.find) != "x" + row.find, row.name


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("c = a < b", None),
        ("c = a < b\nd = a < b", "2 times"),
        ("c = b", "0 times"),
        ("c = (a < b", "no Python"),
    ],
)
def test_a_row_that_does_not_fit_is_told(text: str, told: str | None, tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text(text)
    found = faults([ROW], tmp_path)
    assert len(found) == (told is not None)
    assert not found or str(told) in found[0]


def test_three_commits_can_see_all_defects() -> None:
    rows = [row for row in read() if row.level == "unit"]
    found = [share(rows, 3, commit) for commit in ("a3c", "a3d", "a3e")]
    assert all(len(part) >= 25 for part in found)
    assert sorted(row.name for part in found for row in part) == sorted(row.name for row in rows)
    assert share(rows, 3, "") == share(rows, 3, "0")


def test_names_are_unique(tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text("c = a < b")
    assert "twice" in faults([ROW, ROW], tmp_path)[0]


@pytest.mark.parametrize(
    ("seen", "error", "expected"),
    [
        ([GREEN], "", "green"),
        ([], "", "no such test"),
        ([GREEN, Seen("t.py::test", "call", "failed", "AssertionError")], "", "red"),
        ([Seen("t.py::test", "call", "failed", "Failed")], "", "red"),
        ([Seen("t.py::test", "call", "failed", "KeyError")], "", "failed in call, KeyError"),
        ([Seen("t.py::test", "call", "failed", "KeyError")], "KeyError", "red"),
        ([Seen("t.py::test", "setup", "failed", "AssertionError")], "", "failed in setup, AssertionError"),
        ([Seen("t.py::test", "setup", "skipped", "Skipped")], "", "skipped in setup, Skipped"),
        ([Seen("t.py", "collect", "failed", "")], "", "failed in collect, before it could begin"),
    ],
)
def test_only_a_test_that_says_no_is_red(seen: list[Seen], error: str, expected: str) -> None:
    assert verdict(seen, error) == expected


def test_a_test_is_all_its_cases_and_a_file_all_its_tests() -> None:
    names = ["t.py::test", "t.py::test[a]", "t.py::test_more", "t.py::Some::test"]
    everything = [GREEN._replace(test=name) for name in names]
    assert [it.test for it in of("t.py::test", everything)] == names[:2]
    assert [it.test for it in of("t.py::Some", everything)] == names[3:]
    assert of("t.py", everything) == everything


def test_a_scenarios_report_tells_failures_from_errors() -> None:
    cases = '<testcase name="test_a[x]"/><testcase name="test_a[y]"><{}/></testcase><testcase name="test_b"/>'
    test = "molecule/some/tests/test_some.py::test_a"
    found = [verdict(reported(test, f"<suite>{cases.format(kind)}</suite>")) for kind in ("failure", "error", "x")]
    assert found == ["red", "error in setup, before it could begin", "green"]
