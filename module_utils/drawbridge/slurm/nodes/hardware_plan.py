# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's hardware against its class: what is less, or other, keeps jobs away until somebody has looked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...core.converge import Step
from .ready_plan import HARDWARE

REPAIR = "mend the node, or describe it as it is in drawbridge_nodes.classes"


@dataclass(frozen=True)
class Machine:
    """What a node has, as `slurmd -C` counts it, and its GPUs."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_mib: int
    gpus: int
    """By their device files."""
    listed: int | None = None
    """GPUs that the driver lists; None for nobody to ask."""


@dataclass(frozen=True)
class HardwareState:
    """A node's machine, and what keeps jobs away from it."""

    name: str
    machine: Machine = field(compare=False)
    kept_back: str = ""
    """The reason of a drain; empty for none."""
    answers: bool = field(default=True, compare=False)
    """The controller tells about the node, so it can be drained."""

    def lines(self) -> list[str]:
        """The machine and the drain, in Slurm's words."""
        have = self.machine
        shown = (
            f"NodeName={self.name} Sockets={have.sockets} CoresPerSocket={have.cores_per_socket}"
            f" ThreadsPerCore={have.threads_per_core} RealMemory={have.memory_mib} GPUs={have.gpus}"
        )
        return [shown, f"Reason={self.kept_back}"] if self.kept_back else [shown]


def difference(have: Machine, want: Machine) -> str:
    """What the node has, as against what its class has; empty when jobs get what the class promises.

    Slurm offers what the class says and no more, so a little more memory harms nobody. Everything else that differs is
    another machine: with a GPU too many, somebody pays for one that Slurm never gives out.
    """
    parts = [
        (have.sockets, want.sockets, "sockets"),
        (have.cores_per_socket, want.cores_per_socket, "cores a socket"),
        (have.threads_per_core, want.threads_per_core, "threads a core"),
        (have.gpus, want.gpus, "GPUs"),
    ]
    found = [f"{has} {what} instead of {should}" for has, should, what in parts if has != should]
    if have.listed not in (None, have.gpus, want.gpus):
        found.append(f"{have.listed} GPUs in the driver's list instead of {want.gpus}")
    if have.memory_mib < want.memory_mib:
        found.append(f"{have.memory_mib} MiB of memory instead of {want.memory_mib}")
    return ", ".join(found)


def plan(have: HardwareState, want: HardwareState) -> list[Step[HardwareState]]:
    """Drain the node with what is wrong as the reason; another reason that is there already stays."""
    found = difference(have.machine, want.machine)
    if not found or have.kept_back or not have.answers:
        return []
    reason = f"{HARDWARE}: {found}"
    return [Step(f"drain {have.name}: {reason}", lambda state: replace(state, kept_back=reason), reason)]
