# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output, Program
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import programs_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.programs_io import (
    Started,
    read_all,
    run,
)

from tests.unit.processes import LIMITS_S, gone

LONG_S = 300.0
CHILD = "sleep 600 & echo $! > {}; wait"
"""A program with a child that outlives it, unless both are ended."""


def shell(text: str, seconds: float = LONG_S, **more: Any) -> Program:
    return Program(("sh", "-c", text), seconds, **more)


def test_a_program_has_its_output_its_code_and_its_variables(tmp_path: Path) -> None:
    program = Program(("sh", "-c", "echo $A $LC_ALL; echo no >&2; exit 3"), LONG_S, environment={"A": "b"})
    assert run(program, tmp_path) == Output("b C\n", "no\n", 3)


def test_a_program_that_lacks_or_can_not_be_run_has_the_codes_of_a_shell(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for argv, code in ((("/none",), 127), ((str(file),), 126)):
        assert run(Program(argv, LONG_S), tmp_path).code == code
        assert Started(argv, tmp_path, "it").wait(0).code == code


def test_a_program_that_hangs_is_ended_with_its_children_and_its_folder(tmp_path: Path) -> None:
    pid, folder = tmp_path / "pid", tmp_path / "folder"
    done = Output("", "", 0)
    for limit_s in LIMITS_S:
        done = run(shell(f"echo begun; touch x; {CHILD.format(pid)}", limit_s, folder=str(folder)), tmp_path)
        if pid.exists() and pid.read_text():
            break
    assert (done, folder.exists()) == (Output("begun\n", "", 124), False)
    gone(int(pid.read_text()))


def test_its_folder_is_new_and_its_file_follows_its_output(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "left").mkdir(parents=True)
    done = run(shell("pwd; ls -a; echo more > out.txt", folder=str(folder), output="out.txt"), tmp_path)
    assert done == Output(f"{folder}\n.\n..\nmore\n", "", 0)
    assert not folder.exists()


def test_a_link_in_place_of_the_folder_goes_and_its_target_stays(tmp_path: Path) -> None:
    target, folder = tmp_path / "target", tmp_path / "folder"
    target.mkdir()
    folder.symlink_to(target)
    (target / "kept").touch()
    assert run(shell("ls", folder=str(folder)), tmp_path).stdout == ""
    assert ((target / "kept").exists(), folder.is_symlink()) == (True, False)


def test_without_its_directory_no_folder_is_made_and_nothing_runs(tmp_path: Path) -> None:
    done = run(shell(f"touch {tmp_path}/ran", folder=str(tmp_path / "none/folder")), tmp_path)
    assert (done.code, "can't be made: mkdir: " in done.stderr, "No such file" in done.stderr) == (1, True, True)
    assert not {"none", "ran"} & {it.name for it in tmp_path.iterdir()}


def test_a_stale_mount_gives_no_answer_and_holds_no_worker_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rm").write_text("#!/bin/sh\nsleep 600\n")
    (tmp_path / "rm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(programs_io, "FOLDER_S", 0.2)
    done = run(shell("echo ran", folder=str(tmp_path / "folder")), tmp_path)
    assert (done.code, done.stdout) == (124, "")


def test_of_a_long_output_the_end_is_kept_and_of_a_long_file_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs_io, "MOST_BYTES", 4)
    assert run(shell("echo 123456; echo 98765 >&2"), tmp_path) == Output("456\n", "765\n", 0)
    (tmp_path / "long").write_text("123456")
    assert read_all([f"{tmp_path}/long"]) == {f"{tmp_path}/long": "1234"}


def test_files_are_read_by_patterns_and_others_are_absent(tmp_path: Path) -> None:
    for name, text in (("a1", b"one"), ("a2", b"\xff"), ("b", b"")):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "a3").mkdir()
    found = read_all([f"{tmp_path}/a*", f"{tmp_path}/b", f"{tmp_path}/none"])
    assert found == {f"{tmp_path}/a1": "one", f"{tmp_path}/a2": "\ufffd", f"{tmp_path}/b": ""}


def test_a_started_program_is_read_at_its_end(tmp_path: Path) -> None:
    it = Started([sys.executable, "-c", "import sys; print('x' * 100000); sys.exit(2)"], tmp_path, "it")
    done = it.wait(time.monotonic() + LONG_S)
    assert (done.code, len(done.stdout), it.ended) == (2, 100001, True)


def test_a_started_program_is_ended_with_its_children_at_its_time(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    it = Started(["sh", "-c", CHILD.format(pid)], tmp_path, "it")
    while not (pid.exists() and pid.read_text()):
        time.sleep(0.01)
    assert not it.ended
    assert it.wait(0).code == 124
    gone(int(pid.read_text()))
    assert it.ended
