# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Membership of a Storage Scale cluster, read and changed on one of its admin nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from ....core.command import Completed
from ....core.converge import DeviceError, Step
from ..io import Mm, reason
from ..text import Row
from .plan import ADD, LICENSE, NO_LICENSE, RESTORE, START, UNKNOWN, WAIT, Member, Membership
from .text import directory, find

FOLDER = Path("/var/lib/drawbridge/gpfs")
"""Directory of node files while their commands run."""
AT_A_TIME = 1000
"""Nodes of one mmgetstate. Linux bounds an argument to 128 KiB, and names may have a hundred characters."""


class Cluster:
    """The wanted nodes in this host's cluster; `cluster` is its name, empty for any."""

    name = "GPFS membership"

    def __init__(self, mm: Mm, nodes: Sequence[str], cluster: str = "", folder: Path | None = None) -> None:
        self._mm, self._nodes, self._cluster = mm, nodes, cluster
        self._folder = folder or FOLDER
        self._started: set[str] = set()

    def read(self) -> Membership:
        """Licence and daemon of every wanted node that is a member. A failing mmlscluster never means "no member"."""
        listed = self._listed()
        rows = {name: row for name in self._nodes if (row := find(listed, name))}
        if not rows:
            return Membership(dict.fromkeys(self._nodes))
        licenses = directory(self._mm.read("mmlslicense", "-L").get("", []))
        states = self._states([row["daemonNodeName"] for row in rows.values()])
        return Membership(
            {name: self._member(name, rows[name], licenses, states) if name in rows else None for name in self._nodes}
        )

    def apply(self, steps: Sequence[Step[Membership]]) -> None:
        """One command for all nodes of a verb. Nodes that could not join are skipped afterwards, and named."""
        troubles: dict[str, str] = {}
        for verb, group in groupby(steps, key=lambda step: step.payload.verb):
            nodes = [step.payload.node for step in group if step.payload.node not in troubles]
            if not nodes or verb == WAIT:
                continue
            done = self._change(verb, nodes)
            if verb == ADD:
                listed = self._listed()
                troubles = {name: _why(name, done) for name in nodes if not find(listed, name)}
            if verb == START:
                self._started.update(nodes)
            if verb == RESTORE:
                (self._folder / ADD).unlink(missing_ok=True)
        if troubles:
            raise DeviceError("; ".join(troubles.values()))

    def _listed(self) -> dict[str, Row]:
        answer = self._mm.read("mmlscluster")
        (summary,), listed = answer["clusterSummary"], answer["clusterNode"]
        if self._cluster and summary["clusterName"] != self._cluster:
            raise DeviceError(
                f"drawbridge_gpfs.cluster is {self._cluster}, but this host belongs to {summary['clusterName']};"
                " correct drawbridge_gpfs.cluster, or drawbridge_gpfs.admin"
            )
        if not listed:
            raise DeviceError("mmlscluster lists no node, not even this one; check the cluster, then run this again")
        return directory(listed)

    def _states(self, daemons: Sequence[str]) -> dict[str, Row]:
        batches = [daemons[at : at + AT_A_TIME] for at in range(0, len(daemons), AT_A_TIME)]
        answers = [self._mm.read("mmgetstate", "-N", ",".join(batch)).get("", []) for batch in batches]
        return directory([row for rows in answers for row in rows])

    def _member(self, name: str, row: Row, licenses: dict[str, Row], states: dict[str, Row]) -> Member:
        daemon = row["daemonNodeName"]
        licensed, state = find(licenses, daemon), find(states, daemon)
        seen = state["state"] if state else UNKNOWN
        if seen == UNKNOWN and name in self._started:
            seen = "down"  # this run started it, and no daemon reports that it runs: not done, rather than pending
        license_ = licensed["designatedLicense"] if licensed else NO_LICENSE
        return Member(license_, seen, row["designation"], configured=name not in self._half_joined())

    def _half_joined(self) -> list[str]:
        """Nodes of an mmaddnode that was cut off: its node file still exists."""
        path = self._folder / ADD
        return [line.partition(":")[0] for line in path.read_text().splitlines()] if path.exists() else []

    def _change(self, verb: str, nodes: Sequence[str]) -> Completed:
        """Run a verb on a node file. The tool could take names in its arguments for files of the working directory.

        If the command or this process is killed, the file stays, and a later run finds the nodes in it.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / verb
        role = ":nonquorum-client" if verb == ADD else ""
        path.write_text("".join(f"{node}{role}\n" for node in nodes))
        options = ["client", "--accept"] if verb == LICENSE else []
        try:
            done = self._mm.change(verb, *options, "-N", str(path))
        except DeviceError as err:
            if err.details.get("rc", -1) >= 0:
                path.unlink()
            raise
        path.unlink()
        return done


def _why(name: str, done: Completed) -> str:
    """Why a node could not join, in the tool's words. Its exit code is 0 as soon as it added one node."""
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    lines = [line for line in f"{done.err}\n{done.out}".splitlines() if named.search(line) and "Processing" not in line]
    explained = [line for line in lines if line.startswith(ADD)]
    return f"{ADD} did not add {name}: {reason(ADD, explained[0]) if explained else 'it gave no reason'}"
