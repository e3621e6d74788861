# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Directories of this host's shared file systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.converge import DeviceError, Step
from ..owned import PARENT
from ..owned_io import make, seen, unknown_names
from .model import Directory
from .plan import Directories, above, wanted


class Folders:
    """The directories, and those above them."""

    name = "directories"

    def __init__(self, directories: Sequence[Directory], mounts: Callable[[], str]) -> None:
        """`mounts` is the text of /proc/self/mountinfo."""
        self._directories, self._mounts = directories, mounts

    def read(self) -> Directories:
        """All of them. Raises DeviceError for a file system that is not mounted: its mount point is another one's."""
        mounted = {line.split()[4] for line in self._mounts().splitlines() if line.strip()}
        if missing := sorted({each.mount for each in self._directories} - mounted):
            raise DeviceError(f"{', '.join(missing)} is not mounted on this host; mount it, and run this again")
        goals = {path: PARENT for each in self._directories for path in above(each)}
        goals |= {each.path: wanted(each) for each in self._directories}
        found = {path: owned for path, goal in goals.items() if (owned := seen(path, goal))}
        return Directories(found, {path: why for path, goal in goals.items() if (why := unknown_names(goal))})

    def apply(self, steps: Sequence[Step[Directories]]) -> None:
        """Make and change them."""
        for step in steps:
            make(*step.payload)
