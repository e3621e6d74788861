# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Membership of a Storage Scale cluster, read and changed on one of its admin nodes."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ....core.command import Completed
from ....core.converge import DeviceError, Step
from ..io import Mm, reason
from ..text import Row
from .plan import ADD, INTERFACE, LICENSE, NO_LICENSE, NONE, RESTORE, UNKNOWN, Member, Membership
from .text import directory, find, short

FOLDER = Path("/var/lib/drawbridge/gpfs")
"""Directory of node files while their commands run."""
AT_A_TIME = 1000
"""Nodes of one mmgetstate. Linux bounds an argument to 128 KiB, and names may have a hundred characters."""


@dataclass(frozen=True)
class Names:
    """Names of a node's interfaces, from the node's name."""

    daemon_suffix: str = ""
    admin_suffix: str = ""

    def daemon(self, name: str) -> str:
        return f"{name}{self.daemon_suffix}"

    def admin(self, name: str) -> str:
        return f"{name}{self.admin_suffix}"


def resolve(name: str) -> str:
    """The IPv4 address of a name, empty if it has none here."""
    try:
        return socket.gethostbyname(name)
    except OSError:
        return ""


class Cluster:
    """The wanted nodes in this host's cluster; `cluster` is its name, empty for any."""

    name = "GPFS membership"

    def __init__(
        self,
        mm: Mm,
        nodes: Sequence[str],
        cluster: str = "",
        names: Names | None = None,
        folder: Path | None = None,
        address: Callable[[str], str] = resolve,
    ) -> None:
        self._mm, self._nodes, self._cluster = mm, nodes, cluster
        self._names, self._folder, self._address = names or Names(), folder or FOLDER, address
        self.refused: dict[str, str] = {}
        """Nodes that a command left out, with the reason in its words."""
        self.configured: set[str] = set()
        """Nodes that a command has given the configuration, so that older knowledge of them is void."""

    def read(self) -> Membership:
        """Every wanted node that is a member. A failing mmlscluster never means "no member"."""
        listed, cluster_id = self._listed()
        rows = {name: row for name in self._nodes if (row := self._row(listed, name))}
        if not rows:
            return Membership(dict.fromkeys(self._nodes), cluster_id)
        licenses = directory(self._mm.read("mmlslicense", "-L").get("", []))
        states = self._states([row["daemonNodeName"] for row in rows.values()])
        half = self._half_joined()
        members = {name: self._member(name, row, licenses, states, half) for name, row in rows.items()}
        return Membership({name: members.get(name) for name in self._nodes}, cluster_id)

    def apply(self, steps: Sequence[Step[Membership]]) -> None:
        """One command for all nodes of a verb. Nodes that a command left out are left out afterwards too."""
        for verb, group in groupby(steps, key=lambda step: step.payload.verb):
            nodes = [step.payload.node for step in group if step.payload.node not in self.refused]
            if nodes and verb != NONE:
                self._change_all(verb, nodes)

    def _change_all(self, verb: str, nodes: Sequence[str]) -> None:
        try:
            done = self._change(verb, nodes)
        except DeviceError as err:
            text = f"{err.details.get('stderr', '')}\n{err.details.get('stdout', '')}"
            named = {name: why for name in nodes if (why := _why(verb, self._called(name), text))}
            # a command that names each of its nodes refused the nodes; any other failure is the cluster's
            if verb not in (ADD, RESTORE) or len(named) < len(nodes):
                raise
            self.refused |= named
            return
        if verb == ADD:
            listed, _unused = self._listed()
            left = [name for name in nodes if not self._row(listed, name)]
            text = f"{done.err}\n{done.out}"
            self.refused |= {name: _why(verb, self._called(name), text) or f"{verb} gave no reason" for name in left}
        if verb in (ADD, RESTORE):
            self.configured |= {*nodes} - {*self.refused}
            (self._folder / ADD).unlink(missing_ok=True)

    def _listed(self) -> tuple[dict[str, Row], str]:
        answer = self._mm.read("mmlscluster")
        (summary,), listed = answer["clusterSummary"], answer["clusterNode"]
        if self._cluster and summary["clusterName"] != self._cluster:
            raise DeviceError(
                f"drawbridge_gpfs.cluster is {self._cluster}, but this host belongs to {summary['clusterName']};"
                " correct drawbridge_gpfs.cluster, or drawbridge_gpfs.admin"
            )
        if not listed:
            raise DeviceError("mmlscluster lists no node, not even this one; check the cluster, then run this again")
        return directory(listed), summary["clusterId"]

    def _row(self, listed: dict[str, Row], name: str) -> Row | None:
        """The node's row by the name of its daemon interface; by its own or its admin name if that has changed."""
        names = (self._names.daemon(name), name, self._names.admin(name))
        return next((row for each in names if (row := find(listed, each))), None)

    def _called(self, name: str) -> str:
        return self._names.daemon(name)

    def _states(self, daemons: Sequence[str]) -> dict[str, Row]:
        batches = [daemons[at : at + AT_A_TIME] for at in range(0, len(daemons), AT_A_TIME)]
        answers = [self._mm.read("mmgetstate", "-N", ",".join(batch)).get("", []) for batch in batches]
        return directory([row for rows in answers for row in rows])

    def _member(
        self, name: str, row: Row, licenses: dict[str, Row], states: dict[str, Row], half: Sequence[str]
    ) -> Member:
        daemon = row["daemonNodeName"]
        licensed, state = find(licenses, daemon), find(states, daemon)
        admin = row["adminNodeName"]
        return Member(
            license=licensed["designatedLicense"] if licensed else NO_LICENSE,
            designation=row["designation"],
            configured=name not in half,
            admin="" if short(admin) == short(self._names.admin(name)) else admin,
            state=state["state"] if state else UNKNOWN,
            moved=self._moved(name, row),
        )

    def _moved(self, name: str, row: Row) -> str:
        daemon, listed = self._names.daemon(name), row["daemonNodeName"]
        address = self._address(daemon)
        if short(listed) == short(daemon) and address in ("", row["ipAddress"]):
            return ""
        have = f"{listed} ({row['ipAddress']})"
        return (
            f"the cluster reaches its daemon at {have}, but {daemon} is {address or 'its name now'}; with the node"
            f" drained and GPFS stopped there: mmchnode --daemon-interface={daemon} -N {listed}"
        )

    def _half_joined(self) -> list[str]:
        """Nodes of an mmaddnode that was cut off: its node file still exists."""
        path = self._folder / ADD
        lines = path.read_text().splitlines() if path.exists() else []
        daemons = {line.partition(":")[0] for line in lines}
        return [name for name in self._nodes if self._names.daemon(name) in daemons]

    def _line(self, verb: str, name: str) -> str:
        daemon = self._names.daemon(name)
        if verb == ADD:
            admin = f":{self._names.admin(name)}" if self._names.admin_suffix != self._names.daemon_suffix else ""
            return f"{daemon}:nonquorum-client{admin}"
        return f"{daemon} --admin-interface={self._names.admin(name)}" if verb == INTERFACE else daemon

    def _change(self, verb: str, nodes: Sequence[str]) -> Completed:
        """Run a verb on a node file. The tool could take names in its arguments for files of the working directory.

        If the command or this process is killed, the file stays, and a later run finds the nodes in it.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / verb
        path.write_text("".join(f"{self._line(verb, node)}\n" for node in nodes))
        options = {LICENSE: ["client", "--accept", "-N"], INTERFACE: ["-S"]}.get(verb, ["-N"])
        try:
            done = self._mm.change(verb, *options, str(path))
        except DeviceError as err:
            if err.details.get("rc", -1) >= 0:
                path.unlink()
            raise
        path.unlink()
        return done


def _why(verb: str, name: str, text: str) -> str:
    """Why a command left out a node, in its words; empty if it does not say."""
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    lines = [line for line in text.splitlines() if named.search(line) and "Processing" not in line]
    explained = [line for line in lines if line.startswith(verb)]
    return f"{verb} left out {name}: {reason(verb, explained[0])}" if explained else ""
