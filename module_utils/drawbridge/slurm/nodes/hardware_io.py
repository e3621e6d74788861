# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host's hardware and its drain, read through slurmd, the GPU driver and scontrol."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...nodes.gpus import instances_text
from ...nodes.gpus.listed_io import files, foreign, other_modes
from ...nodes.gpus.listed_io import listed as kernel_list
from ...nodes.gpus.vendor import Vendor
from . import text as slurm_node
from .hardware_plan import HardwareState, Machine

SPOOL = "/var/spool"
WITHOUT_SPOOL = 'mount -t tmpfs tmpfs "$1"; exec slurmd -C'
"""slurmd keeps the first topology that it read in its spool directory, and prefers it to the machine."""
OLD_DRIVER = "is not a valid field to query"
"""A driver that knows no instances says so of their mode."""


class Hardware:
    """This host. `gpu_files` is the path of its GPUs' device files without their numbers, if not the vendor's."""

    def __init__(
        self,
        run: Run,
        name: str,
        vendor: Vendor,
        gpu_files: str = "",
        numbers: Sequence[int] = (),
        modes: Mapping[str, str] | None = None,
        root: str = "/",
    ) -> None:
        """`numbers` are those of the device files that the kernel must list, `modes` those of partitions.

        `root` is a prefix of paths, for tests.
        """
        self.name, self._run, self._vendor, self._gpu_files = name, run, vendor, Path(gpu_files or vendor.devices)
        self._numbers, self._modes, self._root = numbers, modes or {}, root
        self.instances = instances_text.NONE
        """Which instances of GPUs are no difference."""
        self._listing = ""
        self.found = HardwareState(name, Machine(0, 0, 0, 0, 0))
        """The result of the last read."""

    def read(self) -> HardwareState:
        """Read the hardware and the drain. Raises DeviceError if slurmd or the driver does not answer."""
        self._listing = ""
        gpus, listed, lost = self._kernels() if self._vendor.kernel_list else self._drivers()
        machine, others = slurm_node.machine(self._slurmd(), gpus), foreign(self._vendor, self._root)
        modes = (*self._other_modes(), *self._not_whole())
        found = HardwareState(self.name, machine, listed=listed, lost=lost, foreign=others, modes=modes)
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

    def _kernels(self) -> tuple[int, int, tuple[str, ...]]:
        """GPUs with a device file, GPUs in the kernel's list, and device files that lack one of both."""
        numbers = [gpu["minor"] for gpu in kernel_list(self._vendor, self._root)]
        there = files(self._vendor, numbers, self._root)
        lost = tuple(f"{self._vendor.devices}{number}" for number in self._numbers if number not in there)
        return len(there), len(numbers), lost

    def _other_modes(self) -> tuple[str, ...]:
        return tuple(other_modes(self._vendor, self._modes, self._root))

    def _not_whole(self) -> list[str]:
        """Instances of GPUs, or their mode without any, or a text about them that is not known."""
        divider = self._vendor.divider
        if not (divider and self._listing and self.instances != instances_text.ANY):
            return []
        try:
            layouts = instances_text.listed(self._listing, self._vendor)
            modes = divider.read_modes(self._run(list(divider.modes)).out)
        except ValueError as err:
            return [f"a line about instances of GPUs that is not known ({err})"]
        except DeviceError as err:
            if OLD_DRIVER not in err.details.get("stdout", ""):
                raise
            return []
        return instances_text.not_whole(layouts, modes, self.instances, divider.stays_whole)

    def _drivers(self) -> tuple[int, int | None, tuple[str, ...]]:
        """GPUs by device files, and by the driver's tool."""
        gpus = self._gpus()
        return gpus, self._listed() if gpus else None, ()

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
        else:
            self._listing = out
        return sum(line.startswith(self._vendor.listed) for line in out.splitlines())

    def _gpus(self) -> int:
        numbered = re.compile(re.escape(self._gpu_files.name) + "[0-9]+")
        return sum(bool(numbered.fullmatch(path.name)) for path in self._gpu_files.parent.iterdir())
