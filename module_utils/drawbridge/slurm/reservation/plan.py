# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A reservation of nodes in maintenance: Slurm's accounting counts its time as planned."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import hostlist
from ...core.converge import Step

CREATE, DELETE = "create", "delete"


@dataclass(frozen=True)
class Reservation:
    """Slurm's reservation of this name. Without nodes there is none. Its end is the site's to move."""

    name: str
    nodes: frozenset[str] = frozenset()
    maintenance: bool = True
    """Whether it has the flag MAINT."""

    def lines(self) -> list[str]:
        """The reservation as one line in Slurm's words."""
        flags = "MAINT" if self.maintenance else ""
        return [f"ReservationName={self.name} Nodes={self.listed} Flags={flags}"] if self.nodes else []

    @property
    def listed(self) -> str:
        """Its nodes as a hostlist."""
        return hostlist.compress(sorted(self.nodes))


def plan(have: Reservation, want: Reservation) -> list[Step[Reservation]]:
    """Slurm can't begin a running reservation anew, so one that differs is deleted and created again."""
    if have == want or not (have.nodes or want.nodes):
        return []
    steps: list[Step[Reservation]] = []
    if have.nodes:
        reason = f"delete the reservation {have.name} of {have.listed}"
        steps.append(Step(reason, lambda state: Reservation(state.name), DELETE))
    if want.nodes:
        steps.append(Step(f"reserve {want.listed} for maintenance as {want.name}", lambda _state: want, CREATE))
    return steps
