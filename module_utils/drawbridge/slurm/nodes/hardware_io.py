# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host's hardware as slurmd sees it, and its drain, through slurmd and scontrol."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...core.command import Run
from ...core.converge import DeviceError, Step
from . import text as slurm_node
from .hardware_plan import HardwareState, Machine

SPOOL = "/var/spool"
DRIVER = "nvidia-smi"
AFRESH = 'mount -t tmpfs tmpfs "$1"; exec slurmd -C'
"""slurmd keeps the first topology that it saw in its spool directory, which a new node lacks, and prefers that."""


class Hardware:
    """What this host is made of. `gpu_files` is the path of its GPUs' device files without their numbers."""

    def __init__(self, run: Run, name: str, gpu_files: str) -> None:
        self.name, self._run, self._gpu_files = name, run, Path(gpu_files)
        self.machine = Machine(0, 0, 0, 0, 0)
        """What the last look saw."""

    def read(self) -> HardwareState:
        """The machine, and whether it is drained. Raises DeviceError when slurmd can't look."""
        gpus = self._gpus()
        listed = self._listed() if gpus else None
        self.machine = machine = replace(slurm_node.machine(self._slurmd(), gpus), listed=listed)
        try:
            found = slurm_node.node(self._run(["scontrol", "show", "node", self.name, "-o"]).out)
        except DeviceError:
            return HardwareState(self.name, machine, answers=False)
        return HardwareState(self.name, machine, found.reason.split(" [")[0] if "DRAIN" in found.flags else "")

    def apply(self, steps: Sequence[Step[HardwareState]]) -> None:
        """Drain the node."""
        for step in steps:
            self._run(["scontrol", "update", f"nodename={self.name}", "state=drain", f"reason={step.payload}"])

    def _slurmd(self) -> str:
        """Ask in the daemon's own environment: variables of hwloc in it change what slurmd takes for the machine."""
        told = self._run(["systemctl", "show", "--property", "Environment", "--value", "slurmd.service"]).out
        return self._run(["env", *shlex.split(told), "unshare", "--mount", "sh", "-ec", AFRESH, "sh", SPOOL]).out

    def _listed(self) -> int | None:
        """GPUs that the driver lists. One that fell off its bus keeps its device file, and makes the list a failure.

        Raises DeviceError when there is no answer at all.
        """
        try:
            told = self._run([DRIVER, "--list-gpus"]).out
        except DeviceError as err:
            if "stdout" not in err.details:
                return None  # there is no such tool here
            if "rc" not in err.details:
                raise
            told = err.details["stdout"]
        return sum(line.startswith("GPU ") for line in told.splitlines())

    def _gpus(self) -> int:
        numbered = re.compile(re.escape(self._gpu_files.name) + "[0-9]+")
        return sum(bool(numbered.fullmatch(path.name)) for path in self._gpu_files.parent.iterdir())
