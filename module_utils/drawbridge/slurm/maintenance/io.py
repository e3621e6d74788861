# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a wave, in slurmctld: one call reads all nodes, one drains the wave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core import hostlist
from ...core.command import Run
from ...core.converge import Step
from ...nodes.use_io import jobs_left_on
from ..nodes import text as slurm_node
from ..nodes.new_plan import ABSENT, NodeState
from ..nodes.ready_plan import maintained
from .plan import WaveState, out_of_service


class Wave:
    """The named nodes; the rest of the cluster counts for its limits."""

    name = "nodes in maintenance"

    def __init__(self, run: Run, names: Sequence[str], reason: str) -> None:
        self._run, self._names, self._reason = run, list(names), reason
        self._last = WaveState({})

    def read(self) -> WaveState:
        """Read all nodes with one command."""
        lines = self._run(["scontrol", "show", "node", "-o"]).out.splitlines()
        known = {node.name: node for node in map(slurm_node.node, lines) if node.name}
        down = frozenset(name for name, node in known.items() if out_of_service(node)) - frozenset(self._names)
        self._last = WaveState({name: known.get(name, NodeState(name, ABSENT)) for name in self._names}, down)
        return self._last

    def apply(self, steps: Sequence[Step[WaveState]]) -> None:
        """Drain them all at once."""
        names = hostlist.compress([step.payload for step in steps])
        self._run(["scontrol", "update", f"nodename={names}", "state=drain", f"reason={self._reason}"])

    def left(self, maintenance: str, wait_s: float) -> Mapping[str, str]:
        """The job on each node that this maintenance has drained, empty for none. It waits at most `wait_s`."""
        names = [name for name, node in self._last.nodes.items() if maintained(node, maintenance)]
        jobs = jobs_left_on(self._run, names, wait_s)
        return {name: jobs.get(name, "") for name in names}
