# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of a node's GPUs: each is whole or has the instances of its layout, and slurmd has started since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...core.converge import Step
from .instances_text import words
from .vendor import Layout, Mode

DISABLE, DIVIDE, RESTART = "disable", "divide", "restart"
"""What the device does for a step."""
SLURMD = "slurmd.service"


@dataclass(frozen=True)
class GpuInstances:
    """One GPU."""

    layout: Layout = field(default_factory=dict)
    mode: Mode = field(default_factory=Mode)

    @property
    def shown(self) -> str:
        """Its instances, in words."""
        return words(self.layout) or ("divided into none" if self.mode.now else "whole")

    def has(self, layout: Layout) -> bool:
        """Whether it has these instances and is in the mode that they need."""
        return dict(self.layout) == dict(layout) and self.mode.now == bool(layout)


@dataclass(frozen=True)
class NodeInstances:
    """The GPUs of a node in index order, and its slurmd."""

    gpus: Sequence[GpuInstances]
    other_unit: str = ""
    """The vendor's unit that would divide the GPUs at each boot; empty if it is off."""
    stale: bool = False
    """slurmd has started before GPUs were divided, so it offers other instances."""
    runs_slurmd: bool = field(default=False, compare=False)
    held: str = field(default="", compare=False)
    """Why slurmd must not be restarted now."""
    missing: str = field(default="", compare=False)
    """Why GPUs can't be divided: the tool is not installed."""
    stays_whole: str = field(default="", compare=False)
    """How a person keeps GPU {gpu} whole at its next reset."""

    def lines(self) -> list[str]:
        """Each GPU, the vendor's unit and slurmd."""
        gpus = [f"GPU {index}: {gpu.shown}" for index, gpu in enumerate(self.gpus)]
        other = [f"{self.other_unit} enabled"] if self.other_unit else []
        return [*gpus, *other, *([f"{SLURMD} with older instances"] if self.stale else [])]


def wanted(layouts: Sequence[Layout]) -> NodeInstances:
    """The goal: GPUs with these layouts. Without any, all GPUs of the node stay whole.

    Raises TypeError or ValueError for a count that is no number.
    """
    counts = [{str(profile): int(count) for profile, count in layout.items()} for layout in layouts]
    gpus = [GpuInstances(layout, Mode(bool(layout), bool(layout))) for layout in counts]
    return NodeInstances(tuple(gpus) if any(layouts) else ())


def goals(have: NodeInstances, want: NodeInstances) -> list[Layout]:
    """The layout that each GPU of the node should have."""
    return [gpu.layout for gpu in want.gpus] or [{} for _gpu in have.gpus]


def plan(have: NodeInstances, want: NodeInstances) -> list[Step[NodeInstances]]:
    """Keep the vendor's unit off, divide GPUs that differ, and restart a slurmd that runs.

    With a GPU too few the others have changed their indices, so none is divided.
    """
    if want.gpus and len(have.gpus) != len(want.gpus):
        why = f"the driver lists {len(have.gpus)} GPUs instead of {len(want.gpus)}"
        return [Step("compare the instances of GPUs with the class", lambda state: state, None, why)]
    steps = []
    if have.other_unit:
        reason = f"disable {have.other_unit}, which divides GPUs by a file of its own at each boot"
        steps.append(Step(reason, lambda state: replace(state, other_unit=""), (DISABLE, have.other_unit)))
    layouts = goals(have, want)
    divide = [_divide(index, have, layout) for index, layout in enumerate(layouts) if not have.gpus[index].has(layout)]
    steps += divide
    steps += [_kept_whole(index, have) for index, layout in enumerate(layouts) if _waits(have.gpus[index], layout)]
    if have.stale or (divide and have.runs_slurmd):
        reason = f"restart {SLURMD}, which started before the GPUs were divided"
        done = (RESTART, SLURMD)
        steps.append(Step(reason, lambda state: replace(state, stale=False), done, have.held, bool(divide)))
    return steps


def _divide(index: int, have: NodeInstances, layout: Layout) -> Step[NodeInstances]:
    gpu = have.gpus[index]
    has = words(gpu.layout) or "none"
    reason = f"divide GPU {index} into {words(layout)} (it has {has})" if layout else f"make GPU {index} whole"
    reason += "" if layout else f" (it has {has})"
    impossible = "" if gpu.mode.possible or not layout else f"GPU {index} can't be divided; correct gpus of its class"
    becomes = GpuInstances(dict(layout), Mode(bool(layout), bool(layout), gpu.mode.possible))

    def divided(state: NodeInstances) -> NodeInstances:
        gpus = [*state.gpus[:index], becomes, *state.gpus[index + 1 :]]
        return replace(state, gpus=tuple(gpus), stale=state.stale or have.runs_slurmd)

    about, refused = f"GPU {index}", impossible or have.missing
    return Step(reason, divided, (DIVIDE, ""), disturbs=True, refused=refused, about=about)


def _waits(gpu: GpuInstances, layout: Layout) -> bool:
    """Whether a GPU that is whole as it should be can be divided after its next reset."""
    return not layout and gpu.has(layout) and gpu.mode.later


def _kept_whole(index: int, have: NodeInstances) -> Step[NodeInstances]:
    """The tool that divides does not look at the next reset, so a person keeps the GPU whole."""
    why = f"on the drained node run {have.stays_whole.format(gpu=index)}"
    return Step(f"keep GPU {index} whole at its next reset", lambda state: state, None, why)
