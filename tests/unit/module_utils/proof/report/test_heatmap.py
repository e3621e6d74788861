# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report import heatmap
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.picture import overlapping
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.ports import (
    Cell,
    Fabric,
    fabric_of,
)

from tests.unit.module_utils.proof.results import example


@pytest.mark.parametrize("prefix", ["leaf", "a-very-long-name-of-a-leaf-switch-in-hall-2-row-7-"])
@pytest.mark.parametrize("count", [1, 2, 16, 64])
def test_texts_do_not_overlap(count: int, prefix: str) -> None:
    names = [f"{prefix}{number:03d}" for number in range(count)]
    pairs = {(0, one, other): Cell("good") for one in names for other in names}
    picture = heatmap.heatmap(Fabric({}, {0: names}, {}, pairs), 0)
    assert list(overlapping(picture)) == []
    assert len({it.text for it in picture.texts}) == count
    assert len(picture.boxes) == (count**2 if count <= heatmap.MOST_LEAVES else 1)


def test_a_slow_leaf_pair_is_crossed_out() -> None:
    result = example(128)
    fabric = fabric_of(result)
    [finding] = [it for it in result.findings if it.kind == "leaf pair"]
    tones = [Counter(it.tone.split()[0] for it in heatmap.heatmap(fabric, rail).boxes) for rail in (0, 5)]
    assert [dict(it) for it in tones] == [{"good": 16}, {"good": 14, "bad": 2}]
    slow = heatmap.heatmap(fabric, 5)
    assert [len(heatmap.heatmap(fabric, 0).lines), len(slow.lines)] == [0, 2]
    assert [it.title for it in slow.boxes if it.tone == "bad"] == [
        f"leaf-su{one}-r5 → leaf-su{other}-r5: {finding.text}" for one, other in ((2, 4), (4, 2))
    ]


def test_a_cell_has_its_measure_and_limit() -> None:
    cell = next(it for it in fabric_of(example(8, faulty=False)).ports.values())
    assert heatmap.said(cell).startswith("rail bandwidth ") and heatmap.said(cell).endswith("at least 380.4 Gb/s")
    assert heatmap.said(Cell()) == "not measured"
    assert heatmap.said(Cell("none", cell.measure)).startswith("no passing test; best: rail bandwidth")
    assert (heatmap.tone(cell)[:6], heatmap.tone(Cell("bad"))) == ("good s", "bad")
