# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The map of one rail: senders' leaves by receivers' leaves."""

from __future__ import annotations

from .picture import LINE, Box, Lines, Picture, labels, level, longest, upright
from .ports import BAD, GOOD, NONE, Cell, Fabric, shade
from .words import bound, value

CELL, GAP = 14, 4
MOST_CHARACTERS = 24
MOST_LEAVES = 32
"""Of more leaves, only cells that are not good have a box of their own: the page stays small."""


def heatmap(fabric: Fabric, rail: int) -> Picture:
    """Rows send, columns receive. The diagonal is the traffic inside a leaf."""
    leaves = fabric.leaves[rail]
    names = labels(leaves, MOST_CHARACTERS)
    edge = longest(names.values(), MOST_CHARACTERS)
    start, size = edge + 2 * GAP, len(leaves) * CELL
    picture = Picture(f"Rail {rail}: sender's leaf by receiver's leaf", start + size + GAP, start + size + GAP)
    for index, leaf in enumerate(leaves):
        place = start + index * CELL + (CELL - LINE) // 2
        picture.texts.append(level(GAP, place, names[leaf], edge, leaf, right=True))
        picture.texts.append(upright(place, GAP + edge, names[leaf], edge, leaf))
    few = len(leaves) <= MOST_LEAVES
    if not few:
        picture.boxes.append(Box(start, start, size, size, f"{GOOD} s1"))
    for row, sender in enumerate(leaves):
        for column, receiver in enumerate(leaves):
            cell = fabric.pairs[rail, sender, receiver]
            if few or cell.state != GOOD:
                x, y = start + column * CELL, start + row * CELL
                picture.boxes.append(Box(x, y, CELL - 1, CELL - 1, tone(cell), f"{sender} → {receiver}: {said(cell)}"))
                picture.lines += [Lines(_cross(x, y), BAD)] if cell.state == BAD else []
    return picture


def _cross(x: int, y: int) -> str:
    """A cross in a bad cell, for print and for people who don't see its colour."""
    far = CELL - 8
    return f"M{x + 3} {y + 3}l{far} {far}m0-{far}l-{far} {far}"


def tone(cell: Cell) -> str:
    """The classes of a cell in the page."""
    return f"{cell.state} s{shade(cell)}" if cell.state == GOOD else cell.state


def said(cell: Cell) -> str:
    """The sentences of findings, or the best measure with its limit."""
    if cell.texts:
        return "; ".join(cell.texts)
    if cell.measure is None:
        return "not measured"
    it = cell.measure
    found = f"{it.name} {value(it)}, {bound(it.limit, it.at_least, it.unit)}"
    return f"no passing test; best: {found}" if cell.state == NONE else found
