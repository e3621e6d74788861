# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real programs: what goes wrong with them is told, never raised, and never taken for an answer."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from roles.slurm_gate.files.gate import command
from roles.slurm_gate.files.gate.command import NO_ANSWER, TIMEOUT_S, Commands

COMMANDS = Commands()


def python(program: str, **limit: Any) -> command.Result:
    return COMMANDS.run(sys.executable, "-c", program, **limit)


def test_a_program_that_is_not_there_gave_no_answer() -> None:
    result = COMMANDS.run("/nonexistent/squeue")
    assert (result.code, result.out) == (NO_ANSWER, "")
    assert "/nonexistent/squeue" in result.err


def test_a_program_that_hangs_is_not_waited_for() -> None:
    begun = time.monotonic()
    assert python("import time; time.sleep(60)", timeout_s=0.2).code == NO_ANSWER
    assert time.monotonic() - begun < 30


def test_every_program_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []

    def run(*_: Any, timeout: float | None = None, **__: Any) -> Any:
        limits.append(timeout)
        raise OSError("noted")

    monkeypatch.setattr(subprocess, "run", run)
    assert COMMANDS.run("scontrol").code == NO_ANSWER
    assert limits == [TIMEOUT_S]


def test_programs_speak_english_and_get_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert python("import os, sys; print(os.environ['LC_ALL'], repr(sys.stdin.read()))").out == "C ''\n"
