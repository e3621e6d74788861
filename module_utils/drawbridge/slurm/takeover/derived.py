# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of a live Slurm that follow from nodes of the intent, by what they mean: devices, and units of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core import hostlist
from ..config.keys import OF_GPUS
from ..language import gres, topology
from ..language.gres import Share
from ..language.lines import Line
from ..language.values import is_own, same
from .model import DROPPED, KEPT, OURS, Change

DEVICES = "drawbridge_nodes.classes has the GPUs; without autodetection a node that lacks one is a finding"
LEAVES = "drawbridge_nodes.ranges has the leaves"


def devices(old: Sequence[Line], new: Sequence[Line]) -> Iterator[Change]:
    """gres.conf, line by line. A line is lost if a node loses a device, a count or a type by which jobs ask for it."""
    want: dict[str, list[Share]] = {}
    for line in new:
        for name in gres.nodes_of(line) or ():
            want.setdefault(name, []).extend(filter(None, [gres.share(line)]))
    texts = {str(line) for line in new}
    for line in old:
        given, text = gres.share(line), str(line)
        if text in texts:
            yield Change(KEPT, text, text)
        elif given is None:
            yield Change(OURS, text, "", DEVICES)
        elif given.name == "gpu":
            yield _gpus(line, given, want)
        elif why := OF_GPUS.get(given.name):
            yield Change(DROPPED, text, "", "; ".join(why))
        else:
            yield Change(DROPPED, text, "", "", ("gres_lines",), text)
    before = {str(line) for line in old}
    yield from (Change(OURS, "", str(line), DEVICES) for line in new if str(line) not in before)


def _gpus(line: Line, given: Share, want: dict[str, list[Share]]) -> Change:
    named = gres.nodes_of(line)
    names = [name for name, shares in want.items() if shares] if named is None else named
    lost = {name: why for name in names if (why := _lost(given, [it for it in want.get(name, ()) if it.name == "gpu"]))}
    if not lost and names:
        return Change(OURS, str(line), "", DEVICES)
    why = next(iter(lost.values()), "no node has GPUs")
    where = f" on {hostlist.in_order(list(lost))}" if lost else ""
    return Change(DROPPED, str(line), "", f"drawbridge_nodes.classes: {why}{where}; describe these GPUs in a class")


def _lost(given: Share, have: Sequence[Share]) -> str:
    """What a node would lack; empty for nothing."""
    if given.one:
        return "it has no GPU instances"
    alike = [it for it in have if not given.kind or it.kind == given.kind]
    if not alike:
        return f"it has no {given.kind or 'GPU'}"
    files = {device for it in alike for device in it.devices}
    if missing := [device for device in given.devices if device not in files]:
        return f"it has no {given.kind or 'GPU'} at {missing[0]}"
    count = sum(it.count for it in alike)
    return f"it has {count} of them" if not given.devices and count < given.count else ""


def units(old: Sequence[Line], new: Sequence[Line], plugin: str = "") -> Iterator[Change]:
    """topology.conf: a switch or a block is kept if one with the same nodes is there, whatever its name is.

    `plugin` is the live TopologyPlugin, if it is known: without tree or blocks Slurm does not read the file.
    """
    have, want = topology.below(old), topology.below(new)
    unread = plugin and is_own("slurm.conf", "TopologyPlugin", plugin)
    names = {nodes: name for name, nodes in want.items()}
    for line in old:
        text, nodes = str(line), have.get(line.name, frozenset())
        if unread:
            yield Change(OURS, text, "", f"Slurm does not read it with {plugin}")
        elif line.kind == "blocksizes":
            yield from _sizes(line, new)
        elif not nodes or names.get(nodes) == line.name:
            yield Change(KEPT, text, text)
        elif nodes in names:
            yield Change(OURS, text, "", f"its name is then {names[nodes]}")
        else:
            yield Change(DROPPED, text, "", f"{LEAVES}: no unit has just these nodes")
    kept = {names[nodes] for nodes in have.values() if nodes in names}
    yield from (Change(OURS, "", str(line), LEAVES) for line in new if line.name not in kept and line.kind in _UNITS)


_UNITS = ("blockname", "switchname")


def _sizes(line: Line, new: Sequence[Line]) -> Iterator[Change]:
    after = [it for it in new if it.kind == line.kind]
    if any(same(line.kind, line.name, it.name) for it in after):
        yield Change(KEPT, str(line), str(after[-1]))
    else:
        yield Change(
            DROPPED, str(line), "".join(map(str, after)), "the blocks of drawbridge_nodes.ranges have one size"
        )
