# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host's hardware and its drain, read through slurmd, the GPU driver and scontrol."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...nodes.gpus.vendor import Vendor
from . import text as slurm_node
from .hardware_plan import HardwareState, Machine

SPOOL = "/var/spool"
WITHOUT_SPOOL = 'mount -t tmpfs tmpfs "$1"; exec slurmd -C'
"""slurmd keeps the first topology that it read in its spool directory, and prefers it to the machine."""


class Hardware:
    """This host. `gpu_files` is the path of its GPUs' device files without their numbers, if not the vendor's."""

    def __init__(self, run: Run, name: str, vendor: Vendor, gpu_files: str = "") -> None:
        self.name, self._run, self._vendor, self._gpu_files = name, run, vendor, Path(gpu_files or vendor.devices)
        self.found = HardwareState(name, Machine(0, 0, 0, 0, 0))
        """The result of the last read."""

    def read(self) -> HardwareState:
        """Read the hardware and the drain. Raises DeviceError if slurmd or the driver does not answer."""
        gpus = self._gpus()
        listed = self._listed() if gpus else None
        found = HardwareState(self.name, slurm_node.machine(self._slurmd(), gpus), listed=listed)
        try:
            node = slurm_node.node(self._run(["scontrol", "show", "node", self.name, "-o"]).out)
            self.found = replace(found, drain_reason=node.reason.partition(" [")[0] if "DRAIN" in node.flags else "")
        except DeviceError:
            self.found = replace(found, known=False)
        return self.found

    def apply(self, steps: Sequence[Step[HardwareState]]) -> None:
        """Drain the node."""
        for step in steps:
            self._run(["scontrol", "update", f"nodename={self.name}", "state=drain", f"reason={step.payload}"])

    def _slurmd(self) -> str:
        """Run slurmd in the daemon's own environment: variables of hwloc change its view of the machine."""
        env = self._run(["systemctl", "show", "--property", "Environment", "--value", "slurmd.service"]).out
        return self._run(["env", *shlex.split(env), "unshare", "--mount", "sh", "-ec", WITHOUT_SPOOL, "sh", SPOOL]).out

    def _listed(self) -> int | None:
        """GPUs that the driver lists. A GPU that fell off its bus keeps its device file, and the tool fails.

        Raises DeviceError if the tool does not end.
        """
        try:
            out = self._run(list(self._vendor.listing)).out
        except DeviceError as err:
            if "stdout" not in err.details:
                return None  # the tool is not installed
            if "rc" not in err.details:
                raise
            out = err.details["stdout"]
        return sum(line.startswith(self._vendor.listed) for line in out.splitlines())

    def _gpus(self) -> int:
        numbered = re.compile(re.escape(self._gpu_files.name) + "[0-9]+")
        return sum(bool(numbered.fullmatch(path.name)) for path in self._gpu_files.parent.iterdir())
