# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node import files_io


def test_files_follow_their_patterns_and_those_that_can_not_be_read_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("a1", b"one\n"), ("a2", b"\xff"), ("b", b"")):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "a3").mkdir()
    said = [json.loads(line) for line in files_io.lines(str(tmp_path), ["/a*", "/none", "/b"])]
    assert said == [["/a*"], ["/a1", "one\n"], ["/a2", "\ufffd"], ["/none"], ["/b"], ["/b", ""]]
    monkeypatch.setattr(files_io, "MOST_BYTES", 2)
    assert [json.loads(line) for line in files_io.lines(str(tmp_path), ["/a1"])][1] == ["/a1", "on"]


def test_it_runs_alone_and_prints_what_it_has_read(tmp_path: Path) -> None:
    """Without Drawbridge's modules, as a node starts it."""
    (tmp_path / "a").write_text("one")
    program = tmp_path / "program"
    program.write_text(Path(files_io.__file__).read_text())
    argv = [sys.executable, "-IS", str(program), str(tmp_path), "/a"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == '["/a"]\n["/a", "one"]\n'
