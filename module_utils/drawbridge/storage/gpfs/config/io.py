# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Node classes and attributes of a cluster, read and changed on one of its admin nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ....core.converge import Step
from ..io import Mm
from ..members.io import FOLDER, Names
from ..members.text import directory, find
from ..text import Row
from .plan import ADD, CREATE, DELETE, ConfigState, NodeClass

MEMBER_FIELDS = ("memberNodes", "allMembers", "members", "member")
"""Names of the field with a class's nodes, of several releases."""


class Config:
    """Drawbridge's node classes in this host's cluster. `wanted` has the names of its nodes by class."""

    name = "GPFS configuration"

    def __init__(self, mm: Mm, wanted: ConfigState, names: Names | None = None, folder: Path | None = None) -> None:
        self._mm, self._wanted = mm, wanted
        self._names, self._folder = names or Names(), folder or FOLDER

    def read(self) -> ConfigState:
        """The wanted classes that exist, with the intent's names of their nodes."""
        listed = directory(self._mm.read("mmlscluster")["clusterNode"])
        rows = [row for kind in self._mm.read("mmlsnodeclass", "--user").values() for row in kind]
        found = {_class(row): _nodes(row) for row in rows if _class(row) in self._wanted.classes}
        settings = self._settings(found) if found else {}
        known = self._intents(listed)
        return ConfigState(
            {
                name: NodeClass(frozenset(known.get(node, node) for node in _daemons(listed, nodes)), settings[name])
                for name, nodes in found.items()
            },
            self._wanted.partial,
        )

    def members(self) -> frozenset[str]:
        """Nodes of the intent that belong to the cluster."""
        return frozenset(self._intents(directory(self._mm.read("mmlscluster")["clusterNode"])).values())

    def apply(self, steps: Sequence[Step[ConfigState]]) -> None:
        for step in steps:
            change = step.payload
            if change.verb in (CREATE, ADD, DELETE):
                command = [change.node_class] if change.verb == CREATE else [change.node_class, change.verb]
                verb = "mmcrnodeclass" if change.verb == CREATE else "mmchnodeclass"
                self._with_file(verb, command, change.nodes)
            else:
                text = ",".join(f"{name}={value}" for name, value in change.settings.items())
                now = ["-i"] if change.now else []
                self._mm.change("mmchconfig", text, *now, "-N", change.node_class)

    def _settings(self, classes: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
        rows = self._mm.read("mmlsconfig").get("", [])
        return {
            name: {row["configParameter"]: row["value"] for row in rows if row["nodeList"].split(",") == [name]}
            for name in classes
        }

    def _intents(self, listed: Mapping[str, Row]) -> dict[str, str]:
        """The intent's names of members, by their daemon names."""
        nodes = (node for it in self._wanted.classes.values() for node in it.members)
        rows = ((node, find(listed, self._names.daemon(node))) for node in nodes)
        return {row["daemonNodeName"]: node for node, row in rows if row}

    def _with_file(self, verb: str, arguments: Sequence[str], nodes: Sequence[str]) -> None:
        """Names in a file, because the tool could take one in its arguments for a file of the working directory."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / verb
        path.write_text("".join(f"{self._names.daemon(node)}\n" for node in nodes))
        try:
            self._mm.change(verb, *arguments, "-N", str(path))
        finally:
            path.unlink(missing_ok=True)


def _class(row: Row) -> str:
    """The class's name is the first field."""
    return next(iter(row.values()), "")


def _nodes(row: Row) -> list[str]:
    text = next((row[name] for name in MEMBER_FIELDS if row[name]), "")
    return [name for name in text.split(",") if name]


def _daemons(listed: Mapping[str, Row], nodes: Sequence[str]) -> list[str]:
    """Daemon names of members that a class names by any of their names."""
    return [row["daemonNodeName"] if (row := find(listed, node)) else node for node in nodes]
