# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's hardware compared with its class. A difference drains the node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...core.converge import Step
from .model import Machine
from .ready_plan import HARDWARE

REPAIR = "repair the node, or change drawbridge_nodes.classes"


@dataclass(frozen=True)
class HardwareState:
    """A node's hardware and its drain."""

    name: str
    machine: Machine = field(compare=False)
    drain_reason: str = ""
    """Empty if the node is not drained."""
    known: bool = field(default=True, compare=False)
    """The controller has the node, so it can be drained."""
    listed: int | None = field(default=None, compare=False)
    """GPUs that the driver lists; None without a driver tool."""
    lost: tuple[str, ...] = field(default=(), compare=False)
    """Device files of the class without a GPU."""
    foreign: Mapping[str, int] = field(default_factory=dict, compare=False)
    """GPUs of other vendors than the class has, by vendor."""
    modes: tuple[str, ...] = field(default=(), compare=False)
    """Differences of partition modes and of instances, in words."""

    def lines(self) -> list[str]:
        """The hardware and the drain, in Slurm's words."""
        have = self.machine
        shown = (
            f"NodeName={self.name} Sockets={have.sockets} CoresPerSocket={have.cores_per_socket}"
            f" ThreadsPerCore={have.threads_per_core} RealMemory={have.memory_mib} GPUs={have.gpus}"
        )
        return [shown, f"Reason={self.drain_reason}"] if self.drain_reason else [shown]


def difference(state: HardwareState, want: Machine) -> str:
    """The difference between node and class in words; empty for none.

    Slurm never offers more than the class has, so more memory is harmless. But a surplus GPU would never be used.
    """
    have = state.machine
    parts = [
        (have.sockets, want.sockets, "sockets"),
        (have.cores_per_socket, want.cores_per_socket, "cores a socket"),
        (have.threads_per_core, want.threads_per_core, "threads a core"),
        (have.gpus, want.gpus, "GPUs"),
    ]
    found = [f"{has} {what} instead of {should}" for has, should, what in parts if has != should]
    if state.listed not in (None, have.gpus, want.gpus):
        found.append(f"{state.listed} GPUs in the driver's list instead of {want.gpus}")
    if state.lost:
        found.append(f"no GPU at {', '.join(state.lost)}")
    found += [f"{count} GPUs of {vendor}, which its class has not" for vendor, count in state.foreign.items()]
    found += state.modes
    if have.memory_mib < want.memory_mib:
        found.append(f"{have.memory_mib} MiB of memory instead of {want.memory_mib}")
    return ", ".join(found)


def plan(have: HardwareState, want: HardwareState) -> list[Step[HardwareState]]:
    """Drain the node with the difference as the reason. An existing drain keeps its reason."""
    found = difference(have, want.machine)
    if not found or have.drain_reason or not have.known:
        return []
    reason = f"{HARDWARE}: {found}"
    return [Step(f"drain {have.name}: {reason}", lambda state: replace(state, drain_reason=reason), reason)]
