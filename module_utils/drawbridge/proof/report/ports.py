# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Ports and leaf pairs of a proof: which state each has, and which measure or finding says so.

A passing test proves each port and each leaf pair that it used. A failing one proves nothing: the findings name the
cause. So a finding decides first, then the best measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..result import Judged, ProofFinding, Result
from .measures import FABRIC, share

GOOD, WARNING, BAD, NONE = "good", "warning", "bad", "none"
"""States. Warning: undecided, or a finding that only warns. None: no passing test used it."""
SEVERITY = (GOOD, NONE, WARNING, BAD)
Port = tuple[str, int]
Pair = tuple[int, str, str]
"""Rail, the sender's leaf, the receiver's leaf. Equal leaves: traffic inside this leaf."""


@dataclass(frozen=True)
class Cell:
    """State of a port or of a leaf pair, with the best measure and the sentences of findings."""

    state: str = NONE
    measure: Judged | None = None
    texts: tuple[str, ...] = ()


@dataclass
class Fabric:
    """All ports and leaf pairs."""

    leaf_of: Mapping[Port, str]
    leaves: Mapping[int, list[str]]
    """Leaves of each rail, in the order of units."""
    ports: dict[Port, Cell] = field(default_factory=dict)
    pairs: dict[Pair, Cell] = field(default_factory=dict)


def fabric_of(result: Result) -> Fabric:
    """Ports and leaf pairs of a result. Without leaves in the result there are none."""
    leaf_of = {(it.name, rail): leaf for it in result.nodes for rail, leaf in enumerate(result.leaves.get(it.unit, ()))}
    leaves: dict[int, list[str]] = {}
    for unit in result.leaves.values():
        for rail, leaf in enumerate(unit):
            if leaf not in leaves.setdefault(rail, []):
                leaves[rail].append(leaf)
    found = Fabric(leaf_of, leaves)
    found.ports = {port: Cell() for port in leaf_of}
    found.pairs = {(rail, one, other): Cell() for rail, names in leaves.items() for one in names for other in names}
    for measure in result.measures:
        if measure.check == FABRIC and measure.limit is not None and measure.unit in ("Gb/s", "GB/s"):
            _measured(found, measure)
    for finding in result.findings:
        _found(found, finding)
    return found


def _measured(fabric: Fabric, measure: Judged) -> None:
    rails = sorted(fabric.leaves) if measure.rail is None else [measure.rail]
    for rail in rails:
        for node in measure.nodes:
            _better(fabric.ports, (node, rail), measure)
        for sender, receiver in hops(measure):
            leaves = fabric.leaf_of.get((sender, rail)), fabric.leaf_of.get((receiver, rail))
            if leaves[0] and leaves[1]:
                _better(fabric.pairs, (rail, leaves[0], leaves[1]), measure)


def hops(measure: Judged) -> list[tuple[str, str]]:
    """Sender and receiver of each flow: a ring in the order of nodes, or one flow if `where` has an arrow.

    An incast has an arrow and more nodes: its senders share the receiver's port, so it says nothing on leaf pairs.
    """
    nodes = measure.nodes
    if " -> " in measure.where:
        return [(nodes[0], nodes[1])] if len(nodes) == 2 else []
    return list(zip(nodes, [*nodes[1:], nodes[0]])) if len(nodes) > 1 else []


def _better(cells: dict, key: Port | Pair, measure: Judged) -> None:
    """Keep the best measure: a passing one first, then one of this rail alone."""
    old = cells.get(key)
    if old is None:
        return
    if old.measure is None or _rank(measure) > _rank(old.measure):
        cells[key] = Cell(GOOD if measure.passed else NONE, measure)


def _rank(measure: Judged) -> tuple[bool, bool, float]:
    return measure.passed, measure.rail is not None, share(measure)


def _found(fabric: Fabric, finding: ProofFinding) -> None:
    state = WARNING if finding.warning or finding.kind == "undecided" else BAD
    for port in _ports(fabric, finding):
        _mark(fabric.ports, port, state, finding.text)
    for pair in _pairs(fabric, finding):
        _mark(fabric.pairs, pair, state, finding.text)


def _mark(cells: dict, key: Port | Pair, state: str, text: str) -> None:
    old = cells.get(key)
    if old is not None:
        cells[key] = Cell(worst([old.state, state]), old.measure, (*old.texts, text))


def worst(states: Iterable[str]) -> str:
    """The most severe of these states; none without any."""
    return max(states, key=SEVERITY.index, default=NONE)


def _ports(fabric: Fabric, finding: ProofFinding) -> Iterator[Port]:
    """Ports that a finding is about. A finding on a GPU has a node, but no rail and another check."""
    if finding.nodes:
        rails = finding.rails or (tuple(fabric.leaves) if finding.check == FABRIC else ())
        return ((node, rail) for node in finding.nodes for rail in rails)
    leaves = set(finding.leaves) if finding.kind == "leaf" else set()
    return (port for port, leaf in fabric.leaf_of.items() if leaf in leaves)


def _pairs(fabric: Fabric, finding: ProofFinding) -> Iterator[Pair]:
    """Leaf pairs that a finding is about. A path is slow in one direction only."""
    ends = finding.leaves
    if finding.nodes or finding.kind not in ("leaf", "uplinks", "leaf pair", "path", "unit pair"):
        return iter(())
    if finding.kind == "path":
        return (pair for pair in fabric.pairs if pair[1:] == tuple(ends))
    if len(ends) == 1:
        inner = finding.kind == "leaf"
        return (pair for pair in fabric.pairs if ends[0] in pair[1:] and (inner or pair[1] != pair[2]))
    return (pair for pair in fabric.pairs if pair[1] != pair[2] and pair[1] in ends and pair[2] in ends)


def shade(cell: Cell) -> int:
    """How far a good cell is above its limit: 0 (less than 1 %) to 3 (4 % or more)."""
    above = share(cell.measure) - 1 if cell.measure else 0.0
    return sum(above >= step for step in (0.01, 0.02, 0.04))
