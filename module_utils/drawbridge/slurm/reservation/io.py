# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A reservation in slurmctld, read and changed with scontrol."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import hostlist
from ...core.command import Run
from ...core.converge import Step
from ...nodes.scontrol import fields
from .plan import CREATE, Reservation

FLAGS = "flags=maint,ignore_jobs"
"""Nodes that other reservations or running jobs have may be reserved, too."""


class Reserved:
    """The reservation of one name. It ends by itself after `minutes`, if no run is left to delete it."""

    def __init__(self, run: Run, want: Reservation, minutes: int) -> None:
        self._run, self._want, self._minutes = run, want, minutes
        self.name = f"reservation {want.name}"

    def read(self) -> Reservation:
        """Read all reservations: to name one that does not exist would be an error."""
        for line in self._run(["scontrol", "show", "reservation", "-o"]).out.splitlines():
            found = fields(line)
            if found.get("ReservationName") == self._want.name:
                nodes = frozenset(hostlist.expand(found.get("Nodes", "").replace("(null)", "")))
                return Reservation(self._want.name, nodes, "MAINT" in found.get("Flags", "").split(","))
        return Reservation(self._want.name)

    def apply(self, steps: Sequence[Step[Reservation]]) -> None:
        """Delete the old one, create the new one."""
        for step in steps:
            if step.payload == CREATE:
                length = ["starttime=now", f"duration={self._minutes}", f"nodes={self._want.listed}"]
                given = [f"reservationname={self._want.name}", "user=root", FLAGS, *length]
                self._run(["scontrol", "create", "reservation", *given])
            else:
                self._run(["scontrol", "delete", f"reservationname={self._want.name}"])
