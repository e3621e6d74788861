# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import judge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import LOAD, Check
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.table import WARNINGS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.limits import NoLimit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Limit,
    Measure,
    Missing,
    Remark,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged, ProofFinding

NODE = ProofNode("gpu01", "h100")


def row(value: float | None = 90.0, at_least: bool = True) -> Check:
    limit = NoLimit("none", "GB/s", at_least) if value is None else Limit(value, "GB/s", at_least, "made up")
    return Check("copies", LOAD, "Look at it.", "Page", lambda _: True, lambda *_: [], limit=lambda *_: limit)


def copies(*values: float) -> list[Found]:
    return [Measure("copy", value, "GB/s", f"gpu01 GPU {gpu}") for gpu, value in enumerate(values)]


def fleet(*values: float, name: str = "copy", at_least: bool = True, passed: bool = True) -> list[Judged]:
    places = [f"gpu{number:02}" for number in range(len(values))]
    return [
        Judged("copies", name, it, value, "GB/s", 1.0, at_least, "made up", passed, (it,))
        for it, value in zip(places, values)
    ]


def test_a_measure_beyond_its_limit() -> None:
    judged, [finding] = judge.judge_all(NODE, row(), copies(100, 89.96))
    assert [(it.passed, it.limit, it.why, it.nodes) for it in judged] == [
        (True, 90, "made up", ("gpu01",)),
        (False, 90, "made up", ("gpu01",)),
    ]
    text = "gpu01 GPU 1: copy is 89.96 GB/s, below 90 GB/s (made up)"
    look = "`current_link_speed` and `current_link_width` of the GPU, then IOMMU and NUMA node"
    assert finding == ProofFinding("copies", "limit", text, look, ("gpu01",))


def test_the_site_may_set_a_limit() -> None:
    own = ProofNode("gpu01", "h100", limits={"copy": "101.5", "other": "1"})
    for check in (row(), row(None)):
        [judged], _findings = judge.judge_all(own, check, copies(100))
        assert (judged.limit, judged.passed) == (101.5, False) and judged.why.startswith("the site set it; derived: ")
    [judged], findings = judge.judge_all(NODE, row(None), copies(1))
    assert (judged.limit, judged.passed, judged.why, findings) == (None, True, "none", [])


@pytest.mark.parametrize(
    ("found", "kind", "text", "nodes", "rails", "warning"),
    [
        (Missing("copy", "gpu01 rail3", "hung"), "missing", "gpu01 rail3: copy was not measured: hung", 1, (3,), False),
        (Remark("NVLS", "gpu01", "off"), "remark", "gpu01: NVLS: off", 1, (), False),
        (Remark("x", "class h100", "no tool", warning=True), "remark", "class h100: x: no tool", 0, (), True),
        (
            Missing(min(WARNINGS), "gpu01", "why"),
            "missing",
            f"gpu01: {min(WARNINGS)} was not measured: why",
            1,
            (),
            True,
        ),
    ],
)
def test_findings_without_a_number(
    found: Found, kind: str, text: str, nodes: int, rails: tuple[int, ...], warning: bool
) -> None:
    judged, findings = judge.judge_all(NODE, row(), [found])
    names = ("gpu01",) * nodes
    assert (judged, findings) == (
        [],
        [ProofFinding("copies", kind, text, "Look at it.", names, rails, warning=warning)],
    )


def test_a_gpu_that_is_slower_than_its_mates_is_a_warning() -> None:
    _rows, [finding] = judge.judge_all(NODE, row(), copies(100, 100, 101, 94.9))
    text = "gpu01 GPU 3: copy is 94.9 GB/s, 5.1 % below the median of the other 3 in the node, 100 GB/s"
    assert finding == ProofFinding("copies", "remark", text, "Look at it.", ("gpu01",), warning=True)
    assert judge.judge_all(NODE, row(), copies(100, 100, 101, 95.1))[1] == []
    assert "% below the other one, 100 GB/s" in judge.judge_all(NODE, row(), copies(100, 94))[1][0].text
    # for a limit that is a ceiling, the slow one is above; and one finding for each fault
    late = judge.judge_all(NODE, row(200, False), copies(100, 100, 106))[1]
    assert [it.text.partition(",")[0] for it in late] == ["gpu01 GPU 2: copy is 106 GB/s"]
    assert len(judge.judge_all(NODE, row(), copies(100, 100, 80))[1]) == 1


def test_outliers_of_the_fleet() -> None:
    usual = [100, 100.4, 99.8, 100.1, 99.9, 100.2]
    [finding] = judge.outliers(fleet(*usual, 96.5))
    assert finding.warning and finding.nodes == ("gpu06",)
    assert finding.text == "gpu06: copy is 96.5 GB/s, 3.5 % below the median of 7 measurements, 100 GB/s"
    assert judge.outliers(fleet(*usual, 97.5)) == judge.outliers(fleet(100, 100, 50)) == []
    # noise of 2 % makes 96.5 usual
    assert judge.outliers(fleet(98, 102, 99, 101, 97, 103, 96.5)) == []
    assert [it.nodes for it in judge.outliers(fleet(*usual, 103.5, at_least=False))] == [("gpu06",)]
    assert judge.outliers(fleet(*usual, 50, passed=False)) == []
    # a weaker class is no outlier
    two = fleet(*usual, 60, 60.1, 59.9, 60)
    assert judge.outliers(two, {f"gpu{number:02}": "old" for number in range(6, 10)}) == []
    assert len(judge.outliers(two)) == 4


@pytest.mark.parametrize("seed", range(20))
def test_a_noisy_clean_fleet_has_no_outlier(seed: int) -> None:
    noise = random.Random(seed)
    values = [100 * (1 + noise.uniform(-0.01, 0.01)) for _ in range(64)]
    assert judge.outliers(fleet(*values)) == [] == judge.judge_all(NODE, row(), copies(*values))[1]
    [limit] = judge.learn(fleet(*values)).values()
    assert 95.5 < limit < 97.2


def test_limits_learned_from_the_fleet() -> None:
    usual = [float(value) for value in range(200, 221)]
    measures = [*fleet(*usual, 20), *fleet(*usual, name="latency", at_least=False), *fleet(1, 2, 3, name="few")]
    learned = judge.learn(measures)
    assert learned == {"copy": 194.9, "latency": 225.8}
    assert judge.limit_lines(learned) == [
        *("drawbridge_proof:", "  limits:", '    copy: "194.9"', '    latency: "225.8"'),
    ]
    classes = {f"gpu{number:02}": "old" for number in range(10)}
    assert judge.learn(measures, classes)["copy"] == 194.4
