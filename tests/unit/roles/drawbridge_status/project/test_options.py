# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line, and what the program prints where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from roles.drawbridge_status.files.project import command_io
from roles.drawbridge_status.files.project.command_io import Shown
from roles.drawbridge_status.files.project.site_io import NoProjects
from roles.drawbridge_status.files.status import __main__ as program
from roles.drawbridge_status.files.status.model import Seen, Site


def given(words: str) -> Any:
    return program.parser().parse_args(["project", *words.split()])


def test_words() -> None:
    assert (given("list").all, given("list").form, given("list --all --csv").form) == (False, "text", "csv")
    assert (given("show vision --json").name, given("show vision --json").form) == ("vision", "json")
    report = given("report vision --month 2026-10")
    assert (report.name, report.month, report.all) == ("vision", "2026-10", False)
    assert (given("report --all").name, given("report --all").all) == ("", True)


@pytest.mark.parametrize("words", ["", "show", "report", "report vision --all", "list --json --csv", "report x y"])
def test_wrong_words(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        given(words)
    assert "usage: drawbridge" in capsys.readouterr().err


def test_notes_beside_a_table_go_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_io.Command, "run", lambda *_args: Shown("a,b\x1b", ["x"], 1))
    assert program.main(["project", "list", "--csv"]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("a,b?\n", "drawbridge: x\n")


@pytest.mark.parametrize("error", [NoProjects("this site declares no projects"), ValueError("no month")])
def test_no_answer_has_its_exit_code(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_args: Any) -> Shown:
        raise error

    monkeypatch.setattr(command_io.Command, "run", fails)
    assert program.main(["project", "list"]) == 3
    assert capsys.readouterr().err == f"drawbridge: {error}\n"


class Quiet:
    """Readers that see no node."""

    def __init__(self, *_args: Any) -> None:
        pass

    def look(self, *_args: Any) -> Seen:
        return Seen()


def test_status_ends_with_own_projects_but_not_for_nodes_or_again_and_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [{"project": "vision", "level": 1, "text": "space: 98 %", "step": ""}]
    monkeypatch.setattr(command_io.Command, "attention", lambda _self: found)
    monkeypatch.setattr(program, "Readers", Quiet)
    monkeypatch.setattr(program, "site", lambda: (Site(), ()))
    assert program.main(["status"]) == 0
    assert capsys.readouterr().out.endswith("\n\nproject vision: space: 98 %\n")
    assert program.main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["projects"] == found
    program.main(["status", "gpu01"])
    assert "vision" not in capsys.readouterr().out
    monkeypatch.setattr(command_io.Command, "attention", lambda _self: [])
    program.main(["status"])
    assert not capsys.readouterr().out.endswith("\n\n")


def test_a_broken_file_does_not_keep_status_from_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_self: Any) -> list[dict[str, Any]]:
        raise NoProjects("can't be read")

    monkeypatch.setattr(command_io.Command, "attention", fails)
    monkeypatch.setattr(program, "Readers", Quiet)
    monkeypatch.setattr(program, "site", lambda: (Site(), ()))
    assert program.main(["status"]) == 0


def test_it_is_installed_with_the_program() -> None:
    role = Path(program.__file__).parents[2]
    assert "'project'" in (role / "tasks/main.yml").read_text()
