# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real programs: those that the gate starts, and the gate itself, which every job pays for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from roles.slurm_gate.files.gate import command
from roles.slurm_gate.files.gate.command import NO_ANSWER, TIMEOUT_S, Commands
from tests.conformance.tree import ROOT

COMMANDS = Commands()


def python(program: str, **limit: Any) -> command.Result:
    return COMMANDS.run(sys.executable, "-c", program, **limit)


def test_a_program_that_hangs_is_not_waited_for() -> None:
    begun = time.monotonic()
    assert python("import time; time.sleep(60)", timeout_s=0.2).code == NO_ANSWER
    assert time.monotonic() - begun < 30


def test_every_program_has_an_end_and_may_not_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []

    def run(*_: Any, timeout: float | None = None, **__: Any) -> Any:
        limits.append(timeout)
        raise OSError("noted")

    monkeypatch.setattr(subprocess, "run", run)
    result = COMMANDS.run("scontrol")
    assert (result.code, result.out, limits) == (NO_ANSWER, "", [TIMEOUT_S])
    assert "noted" in result.err


def test_programs_speak_english_and_get_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert python("import os, sys; print(os.environ['LC_ALL'], repr(sys.stdin.read()))").out == "C ''\n"


SAYS = "from roles.slurm_gate.files.gate.log import Log; log = Log(); log.event('refused', job=7); log.event('end')"


def test_a_line_is_an_object_and_reaches_slurms_log_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", SAYS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == '{"event": "refused", "job": 7}\n{"event": "end"}\n'


def test_a_slurmd_that_has_died_meanwhile_ends_no_epilog() -> None:
    """Its pipe has no reader: the orphan goes on with its work, and its exit code is its own."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", SAYS], cwd=ROOT, stderr=writer, check=False)
    os.close(writer)
    assert done.returncode == 0


FILES = Path(__file__).resolve().parents[4] / "roles/slurm_gate/files"
HEAVY = {
    *("subprocess", "concurrent.futures", "logging", "shutil", "traceback", "asyncio", "xml", "site"),
    *("dataclasses", "inspect"),
}


def test_nothing_heavy_is_on_a_jobs_way() -> None:
    """Each of these costs milliseconds of processor on every node of every job."""
    show = "import sys; sys.path.insert(0, sys.argv[1]); import gate.__main__; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-IS", "-c", show, str(FILES)], capture_output=True, text=True, check=True)
    assert "http.client" in said.stdout.split()
    assert not HEAVY & set(said.stdout.split())


def test_the_launcher_starts_it_without_packages_of_the_host() -> None:
    placed = (FILES.parent / "tasks/main.yml").read_text()
    assert re.search(r"source: launcher.py\n +run_by: /usr/bin/python3 -IS\n", placed)
