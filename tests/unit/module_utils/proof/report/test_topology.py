# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.picture import (
    Picture,
    overlapping,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.ports import fabric_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.topology import topology
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import NodeVerdict, Result

from tests.unit.module_utils.proof.results import LONG, example


def drawn(result: Result) -> Picture:
    return topology(result, fabric_of(result))


@pytest.mark.parametrize("name", ["n{}", "gpu{:03d}", LONG])
@pytest.mark.parametrize(("nodes", "unit"), [(1, 32), (8, 4), (8, 32), (64, 16), (512, 32), (512, 64), (130, 50)])
def test_texts_do_not_overlap(nodes: int, unit: int, name: str) -> None:
    result = example(nodes, nodes > 4, nodes > 4, unit, name)
    assert list(overlapping(drawn(result))) == []


@pytest.mark.parametrize("leaves", [["one-leaf"] * 8, [f"leaf{number}" for number in range(40)], ["x" * 90]])
def test_other_numbers_of_leaves_fit(leaves: list[str]) -> None:
    nodes = tuple(NodeVerdict(f"gpu{number}", "h100", "su1", "failed") for number in range(40))
    picture = drawn(Result("2", "c", "", "", True, nodes, leaves={"su1": leaves, "empty": ["other"]}))
    assert list(overlapping(picture)) == []
    assert len([it for it in picture.boxes if it.tone == "tile"]) == 1


def test_links_have_the_colour_of_their_port() -> None:
    picture = drawn(example(128))
    links = [it for it in picture.lines if "L" in it.path]
    assert Counter(it.tone for it in links) == {"good": 4, "bad": 9, "none": 1}
    assert next(it.title for it in links if it.tone == "bad").startswith("gpu002 rail 3: gpu002 rail3: tests with it")
    assert [sum(it.path.count("L") for it in links if it.tone == tone) for tone in ("good", "none")] == [1007, 8]
    assert [it.text for it in picture.texts if it.tone == "bad"] == [
        *("failed: gpu002", "failed: gpu065", "failed: gpu[126-127]")
    ]


def test_uplinks_of_a_slow_leaf_pair_are_marked_but_not_its_leaves() -> None:
    picture = drawn(example(128))
    stubs = [it.title.split(",")[0] for it in picture.lines if it.tone == "bad" and "V" in it.path]
    assert stubs == ["uplinks of leaf-su2-r5", "uplinks of leaf-su4-r5"]
    assert [it.title for it in picture.boxes if it.tone == "bad" and "leaf" in it.title.split(":")[0]] == []


def test_nodes_have_the_colour_of_their_verdict() -> None:
    tones = {it.title.split(":")[0]: it.tone for it in drawn(example(8)).boxes if it.title.startswith("gpu")}
    assert Counter(tones.values()) == {"good": 3, "bad": 4, "none": 1} and tones["gpu008"] == "none"
