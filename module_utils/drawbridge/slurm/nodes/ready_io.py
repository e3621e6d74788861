# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host's record in slurmctld, through scontrol."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ...core.command import Run
from ...core.converge import DeviceError, Step
from ..config.text import same_hash
from . import text as slurm_node
from .ready_plan import NodeState

UNSETTLED = frozenset({"NOT_RESPONDING", "REBOOT_ISSUED"})
LOOK_S = 120.0
"""slurm-health ends by itself before that, whatever hangs."""


class Node:
    """A node that must have registered with what it should have."""

    def __init__(self, run: Run, name: str, gres: str, illness: Callable[[], str], settle_s: float) -> None:
        """`illness` says what the node's health check finds wrong, which proves it too; empty if all is well."""
        self.name, self._run, self._gres, self._illness, self._settle_s = name, run, gres, illness, settle_s

    def read(self) -> NodeState:
        """The node's state once it has registered. Raises DeviceError, with a sentence, for what a person must mend."""
        deadline = time.monotonic() + self._settle_s
        while True:
            problem = ""
            try:
                found = slurm_node.node(self._told())
                problem = self._problem(found)
            except DeviceError as err:
                problem, found = f"the controller does not tell about {self.name}: {err}", None
            if found and not problem:
                self._refuse_illness()
                return found
            if time.monotonic() >= deadline or "INVALID_REG" in (found.flags if found else ()):
                raise DeviceError(problem)
            time.sleep(0.5)

    def apply(self, steps: Sequence[Step[NodeState]]) -> None:
        """Resume the node. Its own health check may do so in the same moment, and Slurm resumes no node twice."""
        for step in steps:
            try:
                self._run(["scontrol", "update", f"nodename={self.name}", f"state={step.payload}"])
            except DeviceError:
                if slurm_node.node(self._told()).kept_back:
                    raise

    def _told(self) -> str:
        return self._run(["scontrol", "show", "node", self.name, "-o"]).out

    def _problem(self, found: NodeState) -> str:
        name, repair = self.name, "mend the node or describe it as it is in drawbridge_nodes.classes"
        if "INVALID_REG" in found.flags:
            return f"{name} registered with less than its class has ({found.reason}); {repair}"
        if found.state == "UNKNOWN" or found.flags & UNSETTLED:
            return f"{name} has not registered with the controller; look at: journalctl -u slurmd"
        if found.gres != self._gres:
            got, intended = found.gres or "none", self._gres or "none"
            return f"{name} registered with gres {got}, but {intended} is intended; {repair}"
        if not same_hash(self._run(["scontrol", "show", "config"]).out):
            return f"slurmd of {name} runs with another slurm.conf than the controller; look at: journalctl -u slurmd"
        return ""

    def _refuse_illness(self) -> None:
        if wrong := self._illness():
            raise DeviceError(f"{self.name} is not healthy ({wrong}); mend that and run again")


def illness(run: Run, health: str) -> str:
    """What a node's health check, given by its path, finds wrong; empty if all is well. Raises DeviceError."""
    return run([health, "--look"], ok=(0, 1)).out.strip() if health else ""
