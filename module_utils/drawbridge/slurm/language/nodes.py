# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes, partitions and sets of nodes in a slurm.conf, as slurmctld finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core import hostlist
from .lines import Line, with_defaults
from .values import flag

Attributes = Mapping[str, tuple[str, str]]
"""Spelling and value by key in small letters."""
IN_PARALLEL = frozenset({"bcastaddr", "nodeaddr", "nodehostname", "port"})
"""Keys of a node's line that are lists as long as the names."""
WINNERS = {"defmempercpu": "defmempernode", "denyaccounts": "allowaccounts", "denyqos": "allowqos"}
"""Keys of a partition that Slurm ignores beside another key."""
ALIASES = {"features": "feature", "procs": "cpus", "shared": "oversubscribe"}
"""Old spellings, in small letters."""


def attributes(line: Line) -> dict[str, tuple[str, str]]:
    """The keys of a node or a partition, by today's names. `Priority` of a partition sets two keys, and wins."""
    found = {ALIASES.get(key, key): pair for key, pair in line.values().items()}
    if "sockets" in found and found.get("boards", ("", "1"))[1] == "1":
        found["socketsperboard"] = ("SocketsPerBoard", found.pop("sockets")[1])
    if line.kind == "partitionname" and "priority" in found:
        _spelling, value = found.pop("priority")
        found |= {key.lower(): (key, value) for key in ("PriorityJobFactor", "PriorityTier")}
    return found


def by_partition(found: Sequence[Line]) -> dict[str, Attributes]:
    """Keys of each partition by its name, without those that Slurm ignores: of several defaults it takes the last."""
    named = {line.name: attributes(line) for line in with_defaults(list(found), "partitionname")}
    defaults = [name for name, keys in named.items() if flag(keys.get("default", ("", "no"))[1]) is True]
    for name, keys in named.items():
        if name in defaults[:-1]:
            del keys["default"]
        for key, winner in WINNERS.items():
            if keys.get(winner, ("", "all"))[1].lower() != "all":
                keys.pop(key, None)
    return {**named}


def by_node(found: Sequence[Line]) -> dict[str, Attributes]:
    """Keys of each node by its name."""
    named: dict[str, Attributes] = {}
    for line in with_defaults(list(found), "nodename"):
        names, values = expanded(line.name), attributes(line)
        lists = {key: expanded(values[key][1]) for key in IN_PARALLEL & values.keys()}
        for index, name in enumerate(names):
            own = {key: (values[key][0], each[index]) for key, each in lists.items() if len(each) == len(names)}
            named[name] = {**values, **own}
    return named


def expanded(text: str) -> list[str]:
    """The names of a hostlist; a text that is none stays whole."""
    try:
        return hostlist.expand(text)
    except hostlist.HostlistError:
        return [text]


def gres(text: str) -> dict[tuple[str, str], int]:
    """Resources in Gres: counts by name and type. Case counts in both; a resource without a count is one."""
    counts: dict[tuple[str, str], int] = {}
    for entry in filter(None, text.split(",")):
        name, *rest = [part for part in entry.split("(")[0].split(":") if part != "no_consume"]
        amount = _amount(rest.pop()) if rest and _amount(rest[-1]) is not None else 1
        place = name, ":".join(rest)
        counts[place] = counts.get(place, 0) + (amount or 0)
    return counts


def _amount(text: str) -> int | None:
    """A count with a unit of 1024, such as 4G."""
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].isalpha() else (text, "")
    units = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
    return int(number) * 1024 ** units[unit] if number.isdigit() and unit in units else None


class Members:
    """The nodes behind the names in a partition's Nodes, as slurmctld finds them (nodespec_to_hostlist)."""

    def __init__(self, found: Sequence[Line]) -> None:
        self._nodes = by_node(found)
        self._sets = [(line.name, line.values()) for line in found if line.kind == "nodeset"]

    def of(self, text: str) -> list[str]:
        """Names of nodes. ALL alone means all of them, and a set may name a later set."""
        if text.upper() == "ALL":
            return [*self._nodes]
        names = expanded(text)
        for name, values in self._sets:
            if name in names:
                names = [*(it for it in names if it != name), *self._of_set(values)]
        return list(dict.fromkeys(names))

    def _of_set(self, values: Attributes) -> list[str]:
        """The nodes with the set's feature, and those that it names."""
        feature, nodes = (values.get(key, ("", ""))[1] for key in ("feature", "nodes"))
        own = {name: it.get("feature", ("", ""))[1].split(",") for name, it in self._nodes.items() if feature}
        named = [*self._nodes] if nodes.upper() == "ALL" else expanded(nodes) if nodes else []
        return [*(name for name, features in own.items() if feature in features), *named]
