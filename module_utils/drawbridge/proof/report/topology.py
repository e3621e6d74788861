# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Units with their nodes, leaves and links, each link in the colour of its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..result import FAILED, PROVED, SKIPPED, UNKNOWN, NodeVerdict, Result
from .heatmap import said
from .picture import LINE, Box, Lines, Picture, labels, level, longest, upright
from .ports import BAD, GOOD, NONE, WARNING, Cell, Fabric, worst
from .words import hosts

WIDTH, GAP, COLUMNS = 264, 20, 4
ROW = 32
"""Nodes side by side."""
LEAF, NODE, LINKS, STUB = 13, 7, 70, 14
MOST_CHARACTERS = 20
TONES = {PROVED: GOOD, FAILED: BAD, SKIPPED: NONE, UNKNOWN: WARNING}


@dataclass(frozen=True)
class Names:
    """Labels of leaves and nodes, and the space in px for those of a leaf and of a node; 0: nodes have none."""

    labels: Mapping[str, str]
    leaf: int
    node: int

    @classmethod
    def of(cls, leaves: Sequence[str], nodes: Sequence[str]) -> Names:
        """Nodes need no labels if the list is empty."""
        both = labels(leaves, MOST_CHARACTERS), labels(nodes, MOST_CHARACTERS)
        leaf, node = (longest(it.values(), MOST_CHARACTERS) for it in both)
        return cls({**both[1], **both[0]}, leaf, node)


class Tile:
    """Places of one unit's parts, from the top: title, leaves' names, bar of the other leaves, leaves, nodes."""

    def __init__(self, picture: Picture, x: int, y: int, names: Names, width: int) -> None:
        self.picture, self.x, self.y, self.width = picture, x, y, width
        self.labels, self.names, self.below = names.labels, names.leaf, names.node
        self.bar = y + LINE + 6 + self.names + 4
        self.leaf = self.bar + STUB
        self.node = self.leaf + LEAF + LINKS

    def column(self, index: int, count: int) -> int:
        """The middle of one of so many columns."""
        return self.x + (2 * index + 1) * self.width // (2 * count)


def topology(result: Result, fabric: Fabric) -> Picture:
    """Tiles of all units that have leaves."""
    units = {unit: [it for it in result.nodes if it.unit == unit] for unit in result.leaves}
    units = {unit: nodes for unit, nodes in units.items() if nodes}
    distinct = [list(dict.fromkeys(leaves)) for leaves in result.leaves.values()]
    width = max([WIDTH, *(len(leaves) * LEAF for leaves in distinct)])
    most = max(map(len, units.values()), default=0)
    labelled = width // max(1, min(most, ROW)) > LINE
    nodes = [it.name for members in units.values() for it in members] if labelled else []
    names = Names.of(list(dict.fromkeys(leaf for leaves in distinct for leaf in leaves)), nodes)
    below = names.node and names.node + 4
    rows = -(-most // ROW)
    height = Tile(Picture(""), 0, 0, names, width).node + rows * (NODE + 3 + below) + LINE + 6
    columns = max(1, min(COLUMNS * (WIDTH + GAP) // (width + GAP), len(units)))
    picture = Picture("Units, leaves and links", columns * (width + GAP), -(-len(units) // columns) * (height + GAP))
    for index, (unit, members) in enumerate(units.items()):
        row, column = divmod(index, columns)
        tile = Tile(picture, column * (width + GAP) + GAP // 2, row * (height + GAP), names, width)
        picture.boxes.append(Box(tile.x - 6, tile.y, width + 12, height, "tile"))
        _unit(tile, unit, members, list(result.leaves[unit]), fabric)
        failed = [it.name for it in members if it.verdict == FAILED]
        if failed:
            picture.texts.append(level(tile.x, tile.y + height - LINE - 3, f"failed: {hosts(failed)}", width, tone=BAD))
    return picture


def _unit(tile: Tile, unit: str, nodes: Sequence[NodeVerdict], leaves: Sequence[str], fabric: Fabric) -> None:
    title = f"{unit}: {hosts(it.name for it in nodes)}"
    tile.picture.texts.append(level(tile.x, tile.y + 3, title, tile.width, tone="title"))
    distinct = list(dict.fromkeys(leaves))
    middles = {leaf: tile.column(index, len(distinct)) for index, leaf in enumerate(distinct)}
    for leaf, middle in middles.items():
        rails = [rail for rail, name in enumerate(leaves) if name == leaf]
        _leaf(tile, leaf, middle, rails, fabric)
    _links(tile, nodes, [middles[leaf] for leaf in leaves], fabric)
    _nodes(tile, nodes)


def _leaf(tile: Tile, leaf: str, middle: int, rails: Sequence[int], fabric: Fabric) -> None:
    """A leaf, its name, and the stub of its uplinks: it has the worst state of the pairs with other leaves."""
    picture = tile.picture
    picture.texts.append(upright(middle - LINE // 2, tile.bar - 4, tile.labels[leaf], tile.names, leaf))
    inner = [fabric.pairs[rail, leaf, leaf] for rail in rails]
    others = [(rail, it) for rail in rails for it in fabric.leaves[rail] if it != leaf]
    pairs = [fabric.pairs[(rail, *ends)] for rail, it in others for ends in ((leaf, it), (it, leaf))]
    title = f"{leaf}, rail {', '.join(map(str, rails))}: {_texts([*inner, *pairs])}"
    picture.boxes.append(Box(middle - 6, tile.leaf, 12, LEAF, _state(inner), title))
    if pairs:
        picture.lines.append(Lines(f"M{middle} {tile.leaf}V{tile.bar}", _state(pairs), f"uplinks of {title}"))
        picture.lines.append(Lines(f"M{middle - 8} {tile.bar}h16", "faint"))


def _state(cells: Sequence[Cell]) -> str:
    return worst(it.state for it in cells)


def _texts(cells: Sequence[Cell]) -> str:
    texts = list(dict.fromkeys(text for it in cells for text in it.texts))
    return "; ".join(texts) or f"{sum(it.state == GOOD for it in cells)} of {len(cells)} leaf pairs in a passing test"


def _places(tile: Tile, nodes: Sequence[NodeVerdict]) -> list[tuple[int, int]]:
    """The middle of each node's upper edge."""
    count = min(ROW, len(nodes))
    step = NODE + 3 + (tile.below and tile.below + 4)
    return [(tile.column(index % ROW, count), tile.node + index // ROW * step) for index in range(len(nodes))]


def _links(tile: Tile, nodes: Sequence[NodeVerdict], middles: Sequence[int], fabric: Fabric) -> None:
    """One path for all links of a calm colour, and one for each link with a finding, drawn last."""
    calm: dict[str, list[str]] = {GOOD: [], NONE: []}
    loud = []
    for it, (x, y) in zip(nodes, _places(tile, nodes)):
        for rail, middle in enumerate(middles):
            cell = fabric.ports[it.name, rail]
            path = f"M{x} {y}L{middle} {tile.leaf + LEAF}"
            if cell.state in calm:
                calm[cell.state].append(path)
            else:
                loud.append(Lines(path, cell.state, f"{it.name} rail {rail}: {said(cell)}"))
    tile.picture.lines += [Lines("".join(paths), state) for state, paths in calm.items() if paths] + loud


def _nodes(tile: Tile, nodes: Sequence[NodeVerdict]) -> None:
    for it, (x, y) in zip(nodes, _places(tile, nodes)):
        title = f"{it.name}: {'; '.join([it.verdict, *it.why])}"
        tile.picture.boxes.append(Box(x - NODE // 2, y, NODE, NODE, TONES.get(it.verdict, WARNING), title))
        if tile.below:
            label = tile.labels[it.name]
            bottom = y + NODE + 3 + longest([label], MOST_CHARACTERS)
            tile.picture.texts.append(upright(x - LINE // 2, bottom, label, tile.below, it.name))
