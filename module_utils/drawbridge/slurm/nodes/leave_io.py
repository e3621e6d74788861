# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The daemons and secrets of a node in Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...core.command import Run
from ...core.converge import Step
from ...core.units import Unit
from .leave_plan import GATE, MUNGE, SECRETS, SLURMD, MemberState


class Member:
    """This host as a member of Slurm."""

    name = "membership in Slurm"

    def __init__(self, run: Run, secrets: Sequence[str] = SECRETS) -> None:
        self._run, self._secrets = run, secrets

    def read(self) -> MemberState:
        """Query systemd, and look for the files."""
        return MemberState(
            tuple(unit for unit in (GATE, SLURMD, MUNGE) if self._is_on(unit)),
            tuple(path for path in self._secrets if Path(path).exists()),
        )

    def apply(self, steps: Sequence[Step[MemberState]]) -> None:
        """Do the steps in order."""
        for step in steps:
            verb, name = step.payload
            if verb == "stop":
                self._run(["systemctl", "disable", "--now", name])
            else:
                Path(name).unlink()

    def _is_on(self, name: str) -> bool:
        unit = Unit(name, self._run).read()
        return unit.installed and (unit.enabled or unit.active or unit.starting)
