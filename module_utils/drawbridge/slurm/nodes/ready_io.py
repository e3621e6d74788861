# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host's record in slurmctld, read and changed with scontrol."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...nodes.passport_io import PART
from ..config.text import same_hash
from . import text as slurm_node
from .hardware_plan import REPAIR
from .ready_plan import RESUME, NodeState

UNSETTLED = frozenset({"NOT_RESPONDING", "REBOOT_ISSUED"})
LOOK_S = 120.0
"""slurm-health always ends by itself before that."""


class Node:
    """A node that must register with the hardware and the slurm.conf of the intent."""

    def __init__(
        self,
        run: Run,
        name: str,
        gres: str,
        check_health: Callable[[], str],
        settle_s: float,
        check_passport: Callable[[], str] = str,
    ) -> None:
        """`check_health` and `check_passport` return what keeps jobs off the node; empty for nothing."""
        self.name, self._run, self._gres = name, run, gres
        self._check_health, self._settle_s = check_health, settle_s
        self._check_passport = check_passport

    def read(self) -> NodeState:
        """Wait until the node has registered. Raises DeviceError with a sentence if it must be repaired."""
        deadline = time.monotonic() + self._settle_s
        while True:
            problem = ""
            try:
                found = self.now()
                problem = self._problem(found)
            except DeviceError as err:
                found, problem = None, f"the controller has no state of {self.name}: {err}"
            if found and not problem:
                self._refuse_unhealthy()
                return replace(found, unproved=self._check_passport())
            if time.monotonic() >= deadline or "INVALID_REG" in (found.flags if found else ()):
                raise DeviceError(problem)
            time.sleep(0.5)

    def apply(self, steps: Sequence[Step[NodeState]]) -> None:
        """Resume the node, or give its drain another reason.

        Slurm refuses to resume a node that its health check has just resumed.
        """
        for step in steps:
            words = ["state=resume"] if step.payload == RESUME else ["state=drain", f"reason={step.payload}"]
            try:
                self._run(["scontrol", "update", f"nodename={self.name}", *words])
            except DeviceError:
                if self.now().unavailable:
                    raise

    def now(self) -> NodeState:
        """The node as Slurm has it now, registered or not. Raises DeviceError."""
        return slurm_node.node(self._record())

    def _record(self) -> str:
        return self._run(["scontrol", "show", "node", self.name, "-o"]).out

    def _problem(self, found: NodeState) -> str:
        name = self.name
        if "INVALID_REG" in found.flags:
            return f"{name} registered with less than its class has ({found.reason}); {REPAIR}"
        if found.state == "UNKNOWN" or found.flags & UNSETTLED:
            return f"{name} has not registered with the controller; read: journalctl -u slurmd"
        if found.gres != self._gres:
            got, intended = found.gres or "none", self._gres or "none"
            return f"{name} registered with gres {got}, but {intended} is intended; {REPAIR}"
        if not same_hash(self._run(["scontrol", "show", "config"]).out):
            return f"slurmd of {name} runs with another slurm.conf than the controller; read: journalctl -u slurmd"
        return ""

    def _refuse_unhealthy(self) -> None:
        if wrong := self._check_health():
            raise DeviceError(f"{self.name} is not healthy ({wrong}); repair that and run again")


def check_health(run: Run, health: str, without_passport: bool = False) -> str:
    """The findings of the health check with this path; empty for none. Raises DeviceError.

    A missing passport is no failure of a run: `nodes.passport_io.unproved` returns that finding.
    """
    words = ["--without", PART] if without_passport else []
    return run([health, "--look", *words], ok=(0, 1)).out.strip() if health else ""
