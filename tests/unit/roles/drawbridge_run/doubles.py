# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Doubles of what the launcher has of the gate's program, in the types of its own copy."""

from __future__ import annotations

from roles.drawbridge_run.files.gate.clock import Clock
from roles.drawbridge_run.files.gate.command import Commands, Result
from tests.unit.roles.slurm_gate import cluster


class StillClock(cluster.StillClock, Clock):
    """Waiting costs no time of ours."""


class Tools(cluster.Tools, Commands):
    """Programs that answer as told, by their first words; others end with code 1."""

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        return Result(*super().run(*argv))
