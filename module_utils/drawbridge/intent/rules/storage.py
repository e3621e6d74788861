# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the file systems."""

from __future__ import annotations

from collections.abc import Iterator

from ..fault import Fault
from ..model import Intent
from .common import doubled


def filesystems_stand_once(intent: Intent) -> Iterator[Fault]:
    """One device, one mount point."""
    for part in ("device", "mount"):
        values = [getattr(filesystem, part) for filesystem in intent.gpfs.filesystems]
        yield from doubled("drawbridge_gpfs.filesystems", values, f"give every file system a {part} of its own")


RULES = (filesystems_stand_once,)
