# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Partitions of a live slurm.conf against those of the intent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...core import hostlist
from ..config.keys import PARTITION_DERIVED
from ..config.words import PARTITION_KEYS
from ..language.lines import Line
from ..language.nodes import Attributes, Members, by_node, by_partition
from ..language.values import UNLIMITED, flag, is_own, listed, minutes, number, own, same, seconds, words
from .model import DROPPED, KEPT, OURS, Change
from .nodes import added, spelling_of

_WHOLE = frozenset({"exclusive", "exclusivetopo", "exclusiveuser", "oversubscribe"})
"""Keys of a partition that say how jobs share nodes."""


def partitions(old: Sequence[Line], new: Sequence[Line]) -> Iterator[Change]:
    """Partition by partition, key by key."""
    have, want = by_partition(old), by_partition(new)
    nodes_of = Members(old), Members(new)
    new_nodes = by_node(new)
    for name, attributes in have.items():
        line = f"PartitionName={name}"
        if name not in want:
            yield from _missing_partition(name, attributes, _known(nodes_of[0], attributes, new_nodes))
            continue
        before, after = (
            it.of(values.get("nodes", ("", ""))[1]) for it, values in zip(nodes_of, (attributes, want[name]))
        )
        moved = _other_nodes(name, before, after, new_nodes) if "nodes" in attributes else ()
        changes = [*moved, *_lost_of_partition(name, attributes, want[name])]
        yield from changes or [Change(KEPT, line, line)]
        if more := added(attributes, want[name], "partition", ("nodes",)):
            yield Change(OURS, "", f"{line} {more}", f"drawbridge_slurm.partitions, {name}")
    for name in want.keys() - have.keys():
        yield Change(OURS, "", f"PartitionName={name}", "drawbridge_slurm.partitions")


def _known(members: Members, have: Attributes, new_nodes: Collection[str]) -> list[str]:
    """Those nodes of a live partition that the intent has."""
    return [name for name in members.of(have.get("nodes", ("", ""))[1]) if name in new_nodes]


def _missing_partition(name: str, have: Attributes, nodes: Sequence[str]) -> Iterator[Change]:
    """The partition's keys as an entry of the intent, which takes partitions of its nodes alone."""
    line = f"PartitionName={name}"
    if not nodes:
        yield Change(DROPPED, line, "", "none of its nodes is in drawbridge_nodes.ranges")
        return
    yield Change(DROPPED, line, "", "", ("partitions", name), "")
    written, place = hostlist.in_order(list(nodes)), ("partitions", name, "nodes")
    yield Change(DROPPED, f"{line} Nodes={have['nodes'][1]}", "", "", place, written)
    for key, (spelling, value) in have.items():
        if key == "defaulttime" and _as_long(value, have):
            continue
        if key != "nodes" and not is_own("partition", key, value):
            yield _kept_by_partition(name, spelling_of(key, spelling, PARTITION_KEYS), value, "")


def _kept_by_partition(name: str, spelling: str, old: str, new: str) -> Change:
    typed = PARTITION_DERIVED.get(spelling)
    place = (typed,) if typed else ("settings", spelling)
    line = f"PartitionName={name}"
    before, after = f"{line} {spelling}={old}", f"{line} {spelling}={new}" if new else ""
    why, value = _NO_WORD.get(spelling.lower(), ""), _typed(spelling, old)
    if why or value is None:
        return Change(DROPPED, before, after, why or "the intent has no word for this value")
    return Change(DROPPED, before, after, "", ("partitions", name, *place), value)


def _typed(spelling: str, value: str) -> object:
    """A value as the intent types it, so that it passes its check; None for one that the intent can't have."""
    if spelling in ("AllowAccounts", "AllowQos"):
        return [word.lower() for word in listed(value)]
    if spelling == "Default":
        return flag(value) is True
    if spelling == "PriorityTier":
        return tier if isinstance(tier := number(value), int) else None
    if spelling in ("DefaultTime", "MaxTime"):
        time_s = seconds(value)
        if time_s is None or (time_s < 0 and spelling == "DefaultTime"):
            return None
        return "UNLIMITED" if time_s < 0 else _duration(time_s)
    return value


def _duration(time_s: int) -> str:
    """A time in no form that people read as another: 4:00 are four minutes."""
    minutes, rest_s = divmod(time_s, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest_s:02}" if rest_s else str(minutes)


_NO_WORD = {
    "state": "scontrol update sets the state of a partition, and slurmctld keeps it",
    "topology": "Drawbridge writes one topology, which all partitions have",
}
"""Keys of partitions that the intent does not take, and why."""


def _lost_of_partition(name: str, have: Attributes, want: Attributes) -> Iterator[Change]:
    line = f"PartitionName={name}"
    whole = words(want.get("oversubscribe", ("", ""))[1]) == {"exclusive"} or "exclusive" in want
    for key, (spelling, old) in have.items():
        new = want.get(key, ("", ""))[1]
        effective = new or own("partition", key)
        spelling = spelling_of(key, spelling, PARTITION_KEYS)
        if key == "nodes" or (effective is not None and same(key, old, effective)):
            continue
        if key == "defaulttime" and not new and _as_long(old, have):
            continue
        if whole and key in _WHOLE:
            note = "a partition with gate: true gives whole nodes"
            yield Change(OURS, f"{line} {spelling}={old}", f"{line} {spelling}={new}" if new else "", note)
        else:
            yield _kept_by_partition(name, spelling, old, new)


def _as_long(default: str, have: Attributes) -> bool:
    """Whether jobs without a time get the longest one anyway. Slurm ignores a default above it."""
    longest = minutes(have.get("maxtime", ("", UNLIMITED))[1])
    time = minutes(default)
    return (
        default.lower() == "none"
        or (time is not None and longest is not None and 0 <= longest < time)
        or time == longest
    )


def _other_nodes(name: str, before: Sequence[str], after: Sequence[str], known: Collection[str]) -> Iterator[Change]:
    """A partition of other nodes. Those that the intent has no more are lines of their own."""
    line, why = f"PartitionName={name}", f"drawbridge_slurm.partitions, {name}"
    old, new = (f"{line} Nodes={hostlist.in_order(list(names))}" if names else "" for names in (before, after))
    if lost := [it for it in before if it in known and it not in after]:
        nodes = hostlist.in_order([*after, *lost])
        yield Change(DROPPED, old, new, "", ("partitions", name, "nodes"), nodes)
    elif set(before) != set(after):
        yield Change(OURS, old, new, why)
