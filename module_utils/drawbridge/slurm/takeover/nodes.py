# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a live slurm.conf against those of the intent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ...core import hostlist
from ..config.keys import NODE_DERIVED, NODE_OWNED, OF_GPUS
from ..config.words import NODE_KEYS, spelled
from ..language.lines import Line
from ..language.nodes import Attributes, by_node, gres
from ..language.values import is_own, listed, number, own, same
from .model import DROPPED, KEPT, OURS, Change

HARDWARE = frozenset(key.lower() for key in NODE_DERIVED) - {"nodeaddr", "nodehostname"}
_MACHINE = "drawbridge_nodes.classes describes the hardware"
_LATER = {
    "cloud": "Drawbridge starts no cloud nodes, so it would be down: keep it in a Slurm cluster of its own",
    "external": "Drawbridge has no nodes outside of Slurm",
    "future": "it must exist when Drawbridge writes it: add it when it is there",
}
"""States that are configuration, and why the intent has none of them."""


@dataclass(frozen=True)
class Lost:
    """A key of a line that the new line lacks or has with another value."""

    group: str
    key: str
    old: str
    new: str
    note: str = ""


GONE = Lost(DROPPED, "", "", "")
"""The intent lacks the node."""


def nodes(old: Sequence[Line], new: Sequence[Line]) -> Iterator[Change]:
    """Node by node; nodes that lose the same become one line, and so do those that get the same."""
    have, want = by_node(old), by_node(new)
    classes = {name: keys.get("feature", ("", ""))[1].split(",")[0] for name, keys in want.items()}
    lost: dict[tuple[str, Lost | None], list[str]] = {}
    more: dict[str, list[str]] = {}
    for name, keys in have.items():
        if name not in want:
            lost.setdefault(("", GONE), []).append(name)
            continue
        for item in list(_lost_of_node(name, keys, want[name])) or [None]:
            lost.setdefault((classes[name], item), []).append(name)
        if new_keys := added(keys, want[name], "node", ("feature", "nodeaddr", "nodehostname")):
            more.setdefault(new_keys, []).append(name)
    sizes = Counter(classes[name] for name in have if name in want)
    for (node_class, item), names in lost.items():
        yield _of_nodes(node_class if len(names) == sizes[node_class] else "", item, names)
    for keys_of, names in more.items():
        yield Change(OURS, "", f"NodeName={hostlist.in_order(names)} {keys_of}", _MACHINE)
    if new_names := [name for name in want if name not in have]:
        yield Change(OURS, "", f"NodeName={hostlist.in_order(new_names)}", "drawbridge_nodes.ranges")


def _of_nodes(node_class: str, item: Lost | None, names: Sequence[str]) -> Change:
    """One line. Without a class, only some nodes of their class have the key, and a class keeps it for all."""
    line = f"NodeName={hostlist.in_order(list(names))}"
    if item is None:
        return Change(KEPT, line, line)
    if item == GONE:
        return Change(DROPPED, line, "", "add them to drawbridge_nodes.ranges")
    keep = ("node_settings", node_class, item.key) if node_class and not item.note else ()
    note = item.note or (
        "" if keep else "give these nodes a class of their own, which drawbridge_slurm.node_settings names"
    )
    new_line = f"{line} {item.key}={item.new}" if item.new else line
    return Change(item.group, f"{line} {item.key}={item.old}", new_line, note, keep, item.old)


def added(have: Collection[str], want: Attributes, place: str, without: Sequence[str] = ()) -> str:
    """Keys that only the new line has, unless their values are Slurm's own."""
    new = {key: pair for key, pair in want.items() if key not in {*have, *without}}
    return " ".join(f"{key}={value}" for lower, (key, value) in new.items() if not is_own(place, lower, value))


def _lost_of_node(name: str, have: Attributes, want: Attributes) -> Iterator[Lost]:
    for key, (spelling, old) in have.items():
        new = want.get(key, ("", ""))[1]
        effective = new or own("node", key)
        named = key in ("nodeaddr", "nodehostname") and old == name
        if named or (effective is not None and same(key, old, effective)):
            continue
        spelling = spelling_of(key, spelling, NODE_KEYS)
        if key == "gres":
            yield from _resources(old, new)
        elif why := _configured(key, old) or (_counted_otherwise(old, new, want) if key == "cpus" else ""):
            yield Lost(DROPPED, spelling, old, new, why)
        elif key in HARDWARE:
            yield Lost(OURS, spelling, old, new, _MACHINE)
        elif spelling in NODE_OWNED:
            yield Lost(OURS, spelling, old, new, NODE_OWNED[spelling])
        elif spelling in NODE_DERIVED:
            yield Lost(DROPPED, spelling, old, new, f"set it in {NODE_DERIVED[spelling]}")
        elif key == "feature":
            yield from (Lost(DROPPED, "Feature", word, "") for word in listed(old) if word not in listed(new))
        else:
            yield Lost(DROPPED, spelling, old, new)


def _configured(key: str, value: str) -> str:
    """Why the intent has no node of this state; empty for others."""
    return _LATER.get(value.lower(), "") if key == "state" else ""


def _resources(old: str, new: str) -> Iterator[Lost]:
    """Resources by which jobs ask: fewer of a type are lost. A GPU without a type is any."""
    have, want = gres(old), gres(new)
    gpus = sum(count for (name, _kind), count in want.items() if name == "gpu")
    fewer = [
        (name, kind)
        for (name, kind), count in have.items()
        if (want.get((name, kind), 0) if kind or name != "gpu" else gpus) < count
    ]
    others = [entry for entry in listed(old) if entry.split(":")[0] in {name for name, _kind in fewer} - {"gpu"}]
    if any(name == "gpu" for name, _kind in fewer):
        note = "drawbridge_nodes.classes has other GPUs: their number or their type differs"
        yield Lost(DROPPED, "Gres", old, new, note)
    elif not others and have != want:
        yield Lost(OURS, "Gres", old, new, _MACHINE)
    of_gpus = [(entry, OF_GPUS[entry.split(":")[0]]) for entry in others if entry.split(":")[0] in OF_GPUS]
    yield from (Lost(DROPPED, "Gres", entry, "", "; ".join(why)) for entry, why in of_gpus)
    if own_ones := [entry for entry in others if entry.split(":")[0] not in OF_GPUS]:
        yield Lost(DROPPED, "Gres", ",".join(own_ones), "")


def _counted_otherwise(old: str, new: str, want: Attributes) -> str:
    """Why CPUs mean another thing to users: cores are counted as threads, or threads as cores; empty if not."""
    counts = [number(it) for it in (old, new, want.get("threadspercore", ("", "1"))[1])]
    numbers = [it for it in counts if isinstance(it, int)]
    if len(numbers) < 3:
        return ""
    (less, more), threads = sorted(numbers[:2]), numbers[2]
    if threads == 1 or less * threads != more:
        return ""
    key = f"slurm_cpu: {'core' if numbers[0] == less else 'thread'}"
    return f"--cpus-per-task, limits and billing count CPUs: to keep their meaning, set {key} in the node class"


def spelling_of(key: str, spelling: str, keys: str) -> str:
    """A key as Slurm's manual spells it."""
    return next((name for name in spelled(keys) if name.lower() == key), spelling)
