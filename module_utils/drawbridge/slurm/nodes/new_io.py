# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Records of several nodes in slurmctld: one call of scontrol reads them, one drains them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...core import hostlist
from ...core.command import Run
from ...core.converge import DeviceError, Step
from . import text as slurm_node
from .new_plan import ABSENT, JOINING, NewNodes, NodeState, missed_ping

PAUSE_S = 2.0


class Records:
    """The named nodes; slurmctld may not have them yet."""

    name = "nodes that join"

    def __init__(self, run: Run, names: Sequence[str], settle_s: float) -> None:
        self._run, self._names, self._settle_s = run, list(names), settle_s
        self._absent: list[str] = []

    def read(self) -> NewNodes:
        """Read all nodes. Nodes in service that missed a ping get time to answer again."""
        deadline = time.monotonic() + self._settle_s
        while any(map(missed_ping, (found := self._look()).nodes.values())) and time.monotonic() < deadline:
            time.sleep(PAUSE_S)
        return found

    def _look(self) -> NewNodes:
        """Read once. scontrol ends with 1 for an unknown name, and for other errors too."""
        done = self._run(["scontrol", "show", "node", hostlist.compress(self._names), "-o"], ok=(0, 1))
        nodes = [slurm_node.node(line) for line in done.out.splitlines() if line.startswith("NodeName=")]
        known = {node.name: node for node in nodes}
        self._absent = [name for name in self._names if name not in known]
        output = f"{done.out}{done.err}"
        if failed := [name for name in self._absent if f"Node {name} not found" not in output]:
            raise DeviceError(f"scontrol can't read node {failed[0]}: {done.err.strip()}", stderr=done.err)
        return NewNodes({name: known.get(name, NodeState(name, ABSENT)) for name in self._names})

    def apply(self, steps: Sequence[Step[NewNodes]]) -> None:
        """Drain them all at once. Raises DeviceError for nodes that slurmctld has not read yet."""
        if self._absent:
            raise DeviceError(
                f"slurmctld has no node {hostlist.compress(self._absent)} yet; run again when it has read its new"
                " slurm.conf, which waits while the prolog of a job runs"
            )
        names = hostlist.compress([step.payload for step in steps])
        self._run(["scontrol", "update", f"nodename={names}", "state=drain", f"reason={JOINING}"])
