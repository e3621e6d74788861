# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the partition modes of a node's GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...core.converge import Step
from .vendor import Partition


@dataclass(frozen=True)
class GpuModes:
    """The mode of each GPU, by the key of the intent; of a goal one mode for all."""

    modes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Each key with its modes."""
        return [f"{part}: {', '.join(modes)}" for part, modes in self.modes.items()]


def plan(have: GpuModes, want: GpuModes, parts: Mapping[str, Partition]) -> list[Step[GpuModes]]:
    """Set modes that the kernel can change while it runs. Others wait for a person."""
    steps = []
    for part, (mode,) in want.modes.items():
        found = have.modes.get(part, ())
        other = sorted({one or "unknown" for one in found if one != mode})
        if not found:
            why = "no GPU has a file of this mode; load the driver"
            steps.append(Step(f"set the {part} partition of the GPUs to {mode}", lambda state: state, None, why))
        elif other:
            steps.append(_set(part, mode, len(found), ", ".join(other), parts[part]))
    return steps


def _set(part: str, mode: str, count: int, other: str, how: Partition) -> Step[GpuModes]:
    reason = f"set the {part} partition of {count} GPUs to {mode} (it is {other})"
    if not how.live:
        return Step(reason, lambda state: state, None, f"on the drained node run {how.repair.format(mode=mode)}")

    def becomes(state: GpuModes) -> GpuModes:
        return replace(state, modes={**state.modes, part: (mode,) * count})

    return Step(reason, becomes, (part, mode), disturbs=True, about=f"{part} partition")
