# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.drawbridge.drawbridge.plugins.action import proof_report
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Result

from tests.unit.module_utils.proof.results import example

FAULTY = example(8)
SOUND = example(8, faulty=False)


def printed(result: Result, before: Result | None = None) -> str:
    return json.dumps({"result": result.to_json(), "before": before.to_json() if before else None})


def run(result: str, check: bool = False, shown: list[str] | None = None, **more: Any) -> dict[str, Any]:
    args = {"result": result, **more}
    task = SimpleNamespace(args=args, check_mode=check, async_val=0, diff=True, action="proof_report", _role=None)
    connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir="none is made"))
    parts: list[Any] = [task, connection, None, DataLoader(), Templar(variables={}), None]
    action = proof_report.ActionModule(*parts)
    lines = shown if shown is not None else []
    vars(action)["_display"] = SimpleNamespace(display=lines.append)
    return action.run(task_vars={})


def test_a_passed_proof_shows_its_summary_and_writes_nothing_without_a_folder() -> None:
    shown: list[str] = []
    found = run(printed(SOUND), shown=shown)
    assert (found["failed"], found["changed"], found["files"]) == (False, False, [])
    assert shown == [found["msg"]]


def test_a_proof_that_failed_fails_with_its_findings() -> None:
    found = run(printed(FAULTY))
    assert found["failed"]
    assert all(it.text in found["msg"] for it in FAULTY.findings if not it.warning and it.kind != "limit")


def test_files_are_written_into_a_folder_and_not_in_check_mode(tmp_path: Path) -> None:
    folder = tmp_path / "a/b"
    assert run(printed(SOUND), check=True, folder=str(folder))["files"] == []
    assert not folder.exists()
    files = run(printed(SOUND, FAULTY), folder=str(folder))["files"]
    assert {Path(it).name for it in files} == {it.name for it in folder.iterdir()} >= {"proof.json", "proof.html"}
    assert Result.from_json(json.loads((folder / "proof.json").read_text())) == SOUND


def test_a_report_that_can_not_be_written_fails_and_is_shown(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = run(printed(SOUND), folder=str(tmp_path / "file"))
    assert found["failed"] and "the report can't be written" in found["msg"]
    assert len(found["msg"].splitlines()) > 1


def test_unprintable_texts_do_not_reach_the_terminal() -> None:
    first, *others = FAULTY.findings
    found = run(printed(replace(FAULTY, findings=(replace(first, text="a\x1b[2J", warning=False), *others))))
    assert "\x1b" not in found["msg"]


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"result": {"schema": 0}, "before": null}', '{"result": 7}'])
def test_other_output_is_refused(text: str) -> None:
    found = run(text)
    assert found["failed"]
    assert found["msg"].startswith("drawbridge-prove printed no result that can be read")
