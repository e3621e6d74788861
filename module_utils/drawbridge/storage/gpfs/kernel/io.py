# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS's kernel modules on this host, below /lib/modules, and mmbuildgpl."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ....core.command import Run
from ....core.converge import DeviceError, Step
from .plan import KernelState, missing

MODULES = ("mmfs26.ko", "mmfslinux.ko", "tracedev.ko")
DAEMON = "mmfsd"
"""Its change time is that of the package's installation."""
_CAUSE = re.compile(r"\berror\b|cannot find|can't find|not present|may be needed|does not exist", re.IGNORECASE)


def running(osrelease: Path) -> str:
    """Name of the running kernel."""
    return osrelease.read_text().strip()


@dataclass(frozen=True)
class KernelPlaces:
    """Where the kernel is, its modules, and GPFS's programs."""

    osrelease: Path = Path("/proc/sys/kernel/osrelease")
    modules: Path = Path("/lib/modules")
    programs: Path = Path("/usr/lpp/mmfs/bin")


class KernelModules:
    """The modules for the running kernel; `want` says which are supported, and how they come."""

    name = "GPFS kernel modules"

    def __init__(self, run: Run, want: KernelState, places: KernelPlaces | None = None) -> None:
        self._run, self._want, self._at = run, want, places or KernelPlaces()

    def kernel(self) -> str:
        """Name of the running kernel."""
        return running(self._at.osrelease)

    def read(self) -> KernelState:
        """Compare the modules' change times with the daemon's."""
        kernel = self.kernel()
        folder = self._at.modules / kernel
        daemon = _changed_s(self._at.programs / DAEMON)
        times = [_changed_s(folder / "extra" / name) for name in MODULES]
        # modules of a package may be unpacked before the daemon
        built = all(times) and (self._want.prebuilt or min(times) >= daemon)
        headers = (folder / "build/include").is_dir()
        return replace(self._want, kernel=kernel, built=built, headers=headers)

    def apply(self, steps: Sequence[Step[KernelState]]) -> None:
        """Build them. Raises DeviceError with the kernel, GPFS's version and the compiler's first error."""
        if not steps:
            return
        state = self.read()
        if why := missing(state):
            raise DeviceError(why)
        try:
            self._run([str(self._at.programs / "mmbuildgpl")])
        except DeviceError as err:
            text = f"{err.details.get('stdout', '')}\n{err.details.get('stderr', '')}"
            message = f"kernel {state.kernel}: mmbuildgpl of GPFS {state.release} failed: {_cause(text) or err}"
            raise DeviceError(f"{message}; boot a kernel that IBM supports for it", **err.details) from err


def _changed_s(path: Path) -> float:
    """Change time of a file or link; 0 if it is missing."""
    try:
        return path.lstat().st_ctime
    except FileNotFoundError:
        return 0.0


def _cause(text: str) -> str:
    """The first line that names a cause, with the next one, which may be the package that is needed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    at = next((at for at, line in enumerate(lines) if _CAUSE.search(line)), None)
    return "" if at is None else " ".join(lines[at : at + 2])
