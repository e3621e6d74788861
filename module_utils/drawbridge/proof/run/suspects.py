# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Suspects of the search as findings: one sentence with the worst measure, and what to look at next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...core import hostlist
from ..limits import number
from ..result import Judged, ProofFinding
from ..schedule.site import Site
from ..schedule.state import Suspect
from .fabric_verdict import FABRIC

LOOK: Mapping[str, str] = {
    "node": "a preflight of {nodes}: its GPUs, PCIe links and NIC settings",
    "cable": "the cable, optics and switch port of this rail: ethtool -m and ethtool -S on {nodes}",
    "swapped cables": "the two cables at {nodes}: lldpctl shows where each rail ends",
    "leaf": "the switch {leaves}: its state, and a check of its configuration",
    "uplinks": "the uplinks of {leaves}: their number, speed and errors",
    "leaf pair": "the paths between {leaves}: a check of the switches' configuration, then errors of the spine's ports",
    "path": "the path from {leaves} in this direction: a check of the switches' configuration, then errors of ports",
    "unit pair": "what the units share: the spine's load, and the hash of equal paths (drawbridge_fabric.ecmp)",
    "undecided": "a new proof of {nodes} alone",
}
"""What to look at, by the kind of suspect."""


def finding(suspect: Suspect, judged: Sequence[Judged], site: Site) -> ProofFinding:
    """A suspect with the measure that is furthest from its limit, if there is one."""
    failed = [it for it in judged if not it.passed and _concerns(it, suspect, site)]
    # whole nodes are slow for other reasons, too
    worst = min(failed, key=lambda it: (bool(suspect.rails) and it.rail is None, _share(it)), default=None)
    why = f": {sentence(worst)}" if worst else "".join(f": {line}" for line in suspect.evidence[-1:])
    nodes = tuple(suspect.nodes)
    values = {"nodes": hostlist.compress(list(nodes)) if nodes else "", "leaves": " and ".join(suspect.leaves)}
    return ProofFinding(
        check=FABRIC,
        kind=suspect.kind,
        text=f"{place(suspect)}{why}",
        look=LOOK[suspect.kind].format(**values),
        nodes=nodes,
        rails=suspect.rails,
        leaves=suspect.leaves,
        evidence=suspect.evidence,
    )


def place(suspect: Suspect) -> str:
    """Where the fault is, in words."""
    nodes, leaves = ", ".join(suspect.nodes), suspect.leaves
    if suspect.kind == "cable":
        return f"{nodes} rail{suspect.rails[0]} at {leaves[0]} is slow or lost with every partner"
    if suspect.kind == "swapped cables":
        rails = " and ".join(f"rail{rail}" for rail in suspect.rails)
        return f"{nodes}: the cables of {rails} are swapped"
    if suspect.kind == "leaf pair":
        return f"the leaf pair {leaves[0]} and {leaves[1]} is slow in both directions"
    if suspect.kind == "path":
        return f"the path from {leaves[0]} to {leaves[1]} is slow, and the way back is not"
    if suspect.kind in ("leaf", "uplinks"):
        return f"{'all ports' if suspect.kind == 'leaf' else 'the uplinks'} of {leaves[0]} are slow or lost"
    if suspect.kind == "unit pair":
        return f"the units {' and '.join(suspect.units)} are slow with all rails at once"
    if suspect.kind == "node":
        return f"{nodes} is slow or lost with every partner"
    where = nodes or f"units {', '.join(suspect.units)}"
    return f"a test of {where} failed, and no part of it could be named"


def sentence(it: Judged) -> str:
    """A measure beyond its limit."""
    most = it.limit if it.limit is not None else 0.0
    side = "below" if it.at_least else "above"
    value = f"{number(it.value)} {it.unit}, {side} {number(most)} {it.unit} ({it.why})"
    return f"{it.name} of {it.where} is {value}"


def _share(it: Judged) -> float:
    """How near a measure is to its limit: 1 at the limit, 0 at the worst."""
    if not it.limit or not it.value:
        return 0.0
    return it.value / it.limit if it.at_least else it.limit / it.value


def _concerns(it: Judged, suspect: Suspect, site: Site) -> bool:
    if suspect.nodes:
        mine = set(suspect.nodes) & set(it.nodes)
        return bool(mine) and (it.rail is None or not suspect.rails or it.rail in suspect.rails)
    return set(suspect.leaves) <= set(_leaves(it, site)) if suspect.leaves else True


def _leaves(it: Judged, site: Site) -> Iterator[str]:
    for name in it.nodes:
        leaves = site.leaves[site.unit_of[name]] if name in site.unit_of else ()
        yield from leaves if it.rail is None else leaves[it.rail : it.rail + 1]
