# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes and partitions of a live slurm.conf against those of the intent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...core import hostlist
from ..config.keys import NODE_DERIVED, NODE_OWNED, PARTITION_DERIVED
from ..config.words import NODE_KEYS, PARTITION_KEYS, spelled
from .model import DROPPED, KEPT, OURS, Change
from .settings import same, words
from .text import Line, with_defaults

Attributes = Mapping[str, tuple[str, str]]
"""Spelling and value by key in small letters."""
IN_PARALLEL = frozenset({"bcastaddr", "nodeaddr", "nodehostname", "port"})
"""Keys of a node's line that are lists as long as the names."""
HARDWARE = frozenset(key.lower() for key in NODE_DERIVED) - {"nodeaddr", "nodehostname"} | {"procs"}
PLAIN = {
    *(("state", "up"), ("state", "unknown"), ("default", "no"), ("hidden", "no"), ("rootonly", "no")),
    *(("maxtime", "unlimited"), ("maxtime", "infinite"), ("weight", "1"), ("prioritytier", "1")),
}
"""Values that Slurm takes anyway."""
ALIASES = {"features": "feature", "shared": "oversubscribe"}
LISTS = ("allow_accounts", "allow_qos")


@dataclass(frozen=True)
class Lost:
    """A key of a line that the new line lacks or has with another value."""

    group: str
    key: str
    old: str
    new: str
    note: str = ""


def nodes(old: Sequence[Line], new: Sequence[Line]) -> Iterator[Change]:
    """Node by node; nodes that lose the same become one line."""
    have, want = _by_node(old), _by_node(new)
    alike: dict[tuple[str, Lost | None], list[str]] = {}
    for name, attributes in have.items():
        if name not in want:
            alike.setdefault(("", Lost(DROPPED, "", "", "")), []).append(name)
            continue
        node_class = want[name].get("feature", ("", ""))[1].split(",")[0]
        lost = list(_lost_of_node(name, attributes, want[name]))
        for item in lost or [None]:
            alike.setdefault((node_class, item), []).append(name)
    for (node_class, item), names in alike.items():
        line = f"NodeName={hostlist.in_order(names)}"
        if item is None:
            yield Change(KEPT, line, line)
        elif not item.key:
            yield Change(DROPPED, line, "", "add them to drawbridge_nodes.ranges")
        else:
            keep = () if item.note else ("node_settings", node_class, item.key)
            new_line = f"{line} {item.key}={item.new}" if item.new else line
            yield Change(item.group, f"{line} {item.key}={item.old}", new_line, item.note, keep, item.old)
    if added := [name for name in want if name not in have]:
        yield Change(OURS, "", f"NodeName={hostlist.in_order(added)}", "drawbridge_nodes.ranges")


def _by_node(found: Sequence[Line]) -> dict[str, Attributes]:
    named: dict[str, Attributes] = {}
    for line in with_defaults(list(found), "nodename"):
        names = _expanded(line.name)
        values = {ALIASES.get(key, key): pair for key, pair in line.values().items()}
        lists = {key: _expanded(values[key][1]) for key in IN_PARALLEL & values.keys()}
        for index, name in enumerate(names):
            own = {key: (values[key][0], each[index]) for key, each in lists.items() if len(each) == len(names)}
            named[name] = {**values, **own}
    return named


def _expanded(text: str) -> list[str]:
    try:
        return hostlist.expand(text)
    except hostlist.HostlistError:
        return [text]


def _lost_of_node(name: str, have: Attributes, want: Attributes) -> Iterator[Lost]:
    for key, (spelling, old) in have.items():
        new = want.get(key, ("", ""))[1]
        if (
            (key, old.lower()) in PLAIN
            or (key in ("nodeaddr", "nodehostname") and old == name)
            or (new and same(old, new) and (key != "gres" or old == new))
        ):
            continue
        spelling = _spelled(spelling, NODE_KEYS)
        if key in HARDWARE and (meaning := _other_meaning(key, old, new, want)):
            yield Lost(DROPPED, spelling, old, new, meaning)
        elif key in HARDWARE:
            yield Lost(OURS, spelling, old, new, "drawbridge_nodes.classes describes the hardware")
        elif spelling in NODE_OWNED:
            yield Lost(OURS, spelling, old, new, NODE_OWNED[spelling])
        elif spelling in NODE_DERIVED:
            yield Lost(DROPPED, spelling, old, new, f"set it in {NODE_DERIVED[spelling]}")
        elif key == "feature":
            if missing := [word for word in old.split(",") if word.lower() not in words(new)]:
                yield Lost(DROPPED, "Feature", ",".join(missing), "")
        else:
            yield Lost(DROPPED, spelling, old, new)


def _other_meaning(key: str, old: str, new: str, want: Attributes) -> str:
    """Why the new value of a hardware key means another thing to users; "" if it does not."""
    if key == "gres" and old.lower() == new.lower():
        return "Slurm distinguishes capitals of a type: write it so in gpus.type of the node class"
    if key in ("cpus", "procs") and old.isdigit() and new.isdigit():
        threads, counts = int(want.get("threadspercore", ("", "1"))[1]), sorted((int(old), int(new)))
        if counts[0] * threads == counts[1]:
            key = f"slurm_cpu: {'core' if int(old) < int(new) else 'thread'}"
            return f"--cpus-per-task, limits and billing count CPUs: to keep their meaning, set {key} in the node class"
    return ""


def _spelled(key: str, keys: str) -> str:
    known = {name.lower(): name for name in spelled(keys)}
    return known.get(ALIASES.get(key.lower(), key.lower()), key)


def partitions(old: Sequence[Line], new: Sequence[Line]) -> Iterator[Change]:
    """Partition by partition, key by key."""
    have, want = (
        {line.name: {ALIASES.get(key, key): pair for key, pair in line.values().items()} for line in filled}
        for filled in (with_defaults(list(found), "partitionname") for found in (old, new))
    )
    nodes_of = Members(old), Members(new)
    for name, attributes in have.items():
        line = f"PartitionName={name}"
        if name not in want:
            yield from _missing_partition(name, attributes)
            continue
        changes = list(_lost_of_partition(name, attributes, want[name], nodes_of))
        yield from changes or [Change(KEPT, line, line)]
    for name in want.keys() - have.keys():
        yield Change(OURS, "", f"PartitionName={name}", "drawbridge_slurm.partitions")


def _missing_partition(name: str, attributes: Attributes) -> Iterator[Change]:
    """The partition's keys as an entry of the intent."""
    yield Change(DROPPED, f"PartitionName={name}", "", "", ("partitions", name), "")
    for key, (spelling, value) in attributes.items():
        if (key, value.lower()) not in PLAIN:
            yield _kept_by_partition(name, _spelled(spelling, PARTITION_KEYS), value, "")


def _kept_by_partition(name: str, spelling: str, old: str, new: str) -> Change:
    typed = PARTITION_DERIVED.get(spelling)
    place = (typed,) if typed else ("settings", spelling)
    line = f"PartitionName={name}"
    after = f"{line} {spelling}={new}" if new else ""
    return Change(DROPPED, f"{line} {spelling}={old}", after, "", ("partitions", name, *place), old)


def _lost_of_partition(
    name: str, have: Attributes, want: Attributes, nodes_of: tuple[Members, Members]
) -> Iterator[Change]:
    line = f"PartitionName={name}"
    whole = want.get("oversubscribe", ("", ""))[1] == "EXCLUSIVE" or "exclusive" in want
    for key, (spelling, old) in have.items():
        new = want.get(key, ("", ""))[1]
        spelling = _spelled(spelling, PARTITION_KEYS)
        if key == "nodes":
            before, after = nodes_of[0].of(old), nodes_of[1].of(new)
            if set(before) != set(after):
                shown = f"{line} Nodes={hostlist.in_order(after)}"
                yield Change(
                    OURS, f"{line} Nodes={hostlist.in_order(before)}", shown, f"drawbridge_slurm.partitions, {name}"
                )
        elif (key, old.lower()) in PLAIN or (new and same(old, new)):
            continue
        elif whole and key in ("oversubscribe", "exclusiveuser", "exclusivetopo", "exclusive"):
            note = "a partition with gate: true gives whole nodes"
            yield Change(OURS, f"{line} {spelling}={old}", f"{line} {spelling}={new}" if new else "", note)
        else:
            yield _kept_by_partition(name, spelling, old, new)


class Members:
    """The nodes behind the names in a partition's Nodes, as slurmctld finds them (nodespec_to_hostlist)."""

    def __init__(self, found: Sequence[Line]) -> None:
        self._nodes = _by_node(found)
        self._sets = [(line.name, line.values()) for line in found if line.kind == "nodeset"]

    def of(self, text: str) -> list[str]:
        """Names of nodes. ALL alone means all of them, and a set may name a later set."""
        if text.upper() == "ALL":
            return [*self._nodes]
        names = _expanded(text)
        for name, attributes in self._sets:
            if name in names:
                names = [*(it for it in names if it != name), *self._of_set(attributes)]
        return list(dict.fromkeys(names))

    def _of_set(self, attributes: Attributes) -> list[str]:
        """The nodes with the set's feature, and those that it names."""
        feature, nodes = (attributes.get(key, ("", ""))[1] for key in ("feature", "nodes"))
        own = {name: it.get("feature", ("", ""))[1].split(",") for name, it in self._nodes.items() if feature}
        named = [*self._nodes] if nodes.upper() == "ALL" else _expanded(nodes) if nodes else []
        return [*(name for name, features in own.items() if feature in features), *named]
