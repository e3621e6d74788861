# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Doubles of what the launcher has of the gate's program, in the types of its own copy."""

from __future__ import annotations

from collections.abc import Mapping

from roles.drawbridge_run.files.gate.clock import Clock
from roles.drawbridge_run.files.gate.command import Commands, Result
from tests.unit.roles.slurm_gate import cluster


class StillClock(cluster.StillClock, Clock):
    """Waiting costs no time of ours."""


class Tools(Commands):
    """Programs that answer as told, by their first words; others end with code 1."""

    def __init__(self, answers: Mapping[str, Result | str]) -> None:
        self.answers, self.asked = answers, []

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        self.asked.append(" ".join(argv))
        for words, answer in self.answers.items():
            if self.asked[-1].removeprefix("/usr/bin/").startswith(words):
                return Result(0, answer) if isinstance(answer, str) else answer
        return Result(1, "", f"no answer to {argv}")
