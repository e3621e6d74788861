# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The partition modes of this host's GPUs, in files of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...core.converge import DeviceError, Step
from .listed_io import mode_of
from .modes_plan import GpuModes
from .vendor import Vendor

ROOT = "/"
"""Prefix of the kernel's paths, for tests."""


class Modes:
    """The GPUs of this host."""

    name = "GPUs"

    def __init__(self, vendor: Vendor, want: GpuModes) -> None:
        self._vendor, self._want = vendor, want

    def read(self) -> GpuModes:
        """Modes of the wanted kinds; none without a driver."""
        return GpuModes({part: tuple(mode_of(path) for path in self._files(part)) for part in self._want.modes})

    def apply(self, steps: Sequence[Step[GpuModes]]) -> None:
        """Write the mode of each GPU that has another one. Raises DeviceError."""
        for step in steps:
            part, mode = step.payload
            for path in self._files(part):
                if mode_of(path) != mode:
                    _write(path, mode)

    def _files(self, part: str) -> list[Path]:
        return sorted(Path(ROOT).glob(self._vendor.partitions[part].files.lstrip("/")))


def _write(path: Path, mode: str) -> None:
    try:
        path.write_text(f"{mode}\n")
    except OSError as err:
        why = f"{path} does not take {mode}: {err.strerror}"
        raise DeviceError(f"{why}; stop the programs that use GPUs, and run this again") from err
