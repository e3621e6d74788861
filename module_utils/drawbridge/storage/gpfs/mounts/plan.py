# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the actual to the wanted GPFS mounts of a host."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ....core.converge import Step


@dataclass(frozen=True)
class Mounts:
    """Mount points of this host by device."""

    paths: dict[str, str]

    def lines(self) -> list[str]:
        """One line a mount, as in /proc/mounts."""
        return [f"{device} {path} gpfs" for device, path in self.paths.items()]


def plan(have: Mounts, want: Mounts) -> list[Step[Mounts]]:
    """One step for each file system that is not mounted in its place. It never unmounts."""
    return [
        Step(f"mount {device} at {path}", partial(_mounted, device=device, path=path), (device, path))
        for device, path in want.paths.items()
        if have.paths.get(device) != path
    ]


def _mounted(state: Mounts, device: str, path: str) -> Mounts:
    return Mounts({**state.paths, device: path})
