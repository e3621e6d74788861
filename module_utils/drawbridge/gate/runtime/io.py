# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""containerd by its own account: which program it runs for pods, and whether it reads the gate's file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ...core.command import Run
from ...core.converge import DeviceError
from ...core.daemon.own_unit_io import OwnUnit
from ...core.daemon.plan import DaemonState
from .text import DROP_IN, GUARD, NEXT, RUNC, Effective, effective

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where containerd looks for its runtime."""


class GuardedUnit(OwnUnit):
    """containerd, whose own account of its configuration is compared with the file."""

    def __init__(self, want: DaemonState, run: Run, program: str, binary: str) -> None:
        super().__init__(want.unit, want, run)
        self._program, self._binary = program, binary

    def read(self) -> DaemonState:
        """The daemon. Raises DeviceError if it would not read the file."""
        state = super().read()
        if DROP_IN in state.files and state.files[DROP_IN] == self._want.files.get(DROP_IN):
            found = of_containerd(self._run, self._program)
            if found.binary != self._binary:
                raise DeviceError(
                    f"containerd runs {found.binary or RUNC}, not {self._binary}: it does not read {DROP_IN}, or "
                    "another file overrules it; /etc/containerd/config.toml needs "
                    'imports = ["/etc/containerd/conf.d/*.toml"]'
                )
        return state


def of_containerd(run: Run, program: str) -> Effective:
    """What containerd would run. Raises DeviceError."""
    try:
        return effective(run([program, "config", "dump"]).out)
    except ValueError as err:
        raise DeviceError(str(err)) from err


def behind(found: Effective, known: Path = Path(NEXT)) -> str:
    """The runtime that the guard becomes: the one before it came, which its file still names. Raises DeviceError."""
    if found.binary not in ("", GUARD):
        return found.binary if "/" in found.binary else _where(found.binary)
    try:
        before = known.read_text().strip()
    except OSError:
        before = ""
    return before if found.binary and os.access(before, os.X_OK) else _where(RUNC)


def _where(name: str) -> str:
    found = shutil.which(name, path=PATH)
    if not found:
        raise DeviceError(f"no {name} in {PATH}: containerd would start no container")
    return found
