# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that retire, in slurmctld: their drain, and the jobs that still use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core import hostlist
from ...core.command import Run
from ...core.converge import Step
from ...nodes.use_io import jobs_left_on
from .new_io import Records
from .new_plan import ABSENT, NewNodes, safe
from .ready_plan import RETIRING


class Retiring:
    """The named nodes. A node that slurm.conf no longer has is out of Slurm already."""

    name = "nodes that retire"

    def __init__(self, run: Run, names: Sequence[str]) -> None:
        self._run, self._records = run, Records(run, names, settle_s=0)
        self._last = NewNodes({})

    def read(self) -> NewNodes:
        """Read all nodes with one command."""
        self._last = self._records.read()
        return self._last

    def apply(self, steps: Sequence[Step[NewNodes]]) -> None:
        """Drain them all at once."""
        names = hostlist.compress([step.payload for step in steps])
        self._run(["scontrol", "update", f"nodename={names}", "state=drain", f"reason={RETIRING}"])

    def left(self, wait_s: float) -> Mapping[str, str]:
        """Why each node must stay as it is; an empty text for a node that no job uses, now or later.

        It waits for the jobs of drained nodes, at most `wait_s`.
        """
        jobs = jobs_left_on(
            self._run, [name for name, node in self._last.nodes.items() if node.state != ABSENT], wait_s
        )
        return {name: self._why(name, jobs) for name in self._last.nodes}

    def _why(self, name: str, jobs: Mapping[str, str]) -> str:
        if job := jobs.get(name):
            return f"Slurm job {job} is on {name}; run this again when it has ended"
        return "" if safe(self._last.nodes[name]) else f"{name} is not drained yet, so nothing more can be predicted"
