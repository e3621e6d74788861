# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from dataclasses import replace

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
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail
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
    look = "Look at it." if nodes else "tools of the site in drawbridge_proof.tools"
    assert (judged, findings) == ([], [ProofFinding("copies", kind, text, look, names, rails, warning=warning)])


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


def test_a_part_that_is_slow_in_two_ways_is_one_finding() -> None:
    both: list[Found] = [
        Measure(f"{way} of /scratch", value, "GB/s", "gpu01") for way, value in (("read", 89), ("write", 80))
    ]
    _rows, [finding] = judge.judge_all(NODE, row(), both)
    assert finding.text == "gpu01: write of /scratch is 80 GB/s, below 90 GB/s (made up)"
    assert finding.evidence == ("gpu01: read of /scratch is 89 GB/s, below 90 GB/s (made up)",)
    other = Measure("write of /home", 1, "GB/s", "gpu01")
    assert len(judge.judge_all(NODE, row(), [*both, other])[1]) == 2


def test_versions_of_equal_nodes() -> None:
    rails = (ProofRail("rail0", "mlx5_0", 400), ProofRail("rail1", "mlx5_1", 400))
    names = [f"gpu{number:02}" for number in range(1, 6)]
    builds = {name: replace(NODE, name=name, rails=rails) for name in names}
    own = {"kernel": "6.12", "firmware of mlx5_0": "28.4", "firmware of mlx5_1": "28.4", "cable of rail0": "leaf1"}
    versions = {name: {**own, "GPUs": f"8 with digest {name}"} for name in names}
    assert judge.odd_versions(versions, builds) == []
    versions["gpu02"]["firmware of mlx5_1"] = "28.3"
    versions["gpu03"].update({"firmware of mlx5_0": "28.3", "firmware of mlx5_1": "28.3", "cable of rail0": "leaf2"})
    versions["gpu04"]["kernel"] = "6.13"
    found = judge.odd_versions(versions, builds)
    assert {(it.text, it.rails, it.nodes, it.warning) for it in found} == {
        ("gpu02: firmware of mlx5_1 is 28.3, but 28.4 on 3 of 5 nodes", (1,), ("gpu02",), True),
        ("gpu03: firmware of mlx5_1 is 28.3, but 28.4 on 3 of 5 nodes", (1,), ("gpu03",), True),
        ("gpu03: firmware of mlx5_0 is 28.3, but 28.4 on 4 of 5 nodes", (0,), ("gpu03",), True),
        ("gpu04: kernel is 6.13, but 6.12 on 4 of 5 nodes", (), ("gpu04",), True),
    }
    versions["gpu02"]["firmware of mlx5_1"] = "28.4"
    assert "gpu03: firmware of mlx5_[0-1] is 28.3, but 28.4 on 4 of 5 nodes" in {
        it.text for it in judge.odd_versions(versions, builds)
    }
    # an update has reached half of the nodes, and another class is none of its mates
    half = {name: versions["gpu03"] if name < "gpu03" else own for name in names[:4]}
    assert judge.odd_versions(half, builds) == []
    builds["gpu04"] = replace(builds["gpu04"], node_class="old")
    assert [it.nodes for it in judge.odd_versions(versions, builds)] == [("gpu03",)]


def test_outliers_of_the_fleet() -> None:
    usual = [100, 100.4, 99.8, 100.1, 99.9, 100.2, 100]
    [finding] = judge.outliers(fleet(*usual, 96.5))
    assert finding.warning and finding.nodes == ("gpu07",)
    assert finding.text == "gpu07: copy is 96.5 GB/s, 3.5 % below the median of 8 measurements, 100 GB/s"
    assert judge.outliers(fleet(*usual, 97.5)) == judge.outliers(fleet(100, 100, 50)) == []
    # noise of 2 % makes 96.5 usual
    assert judge.outliers(fleet(98, 102, 99, 101, 97, 103, 100, 96.5)) == []
    assert [it.nodes for it in judge.outliers(fleet(*usual, 103.5, at_least=False))] == [("gpu07",)]
    assert judge.outliers(fleet(*usual, 50, passed=False)) == []
    # a path over a spine is no outlier among those of a leaf
    spine = [replace(it, value=60, why="over a spine") for it in fleet(*usual)]
    assert judge.outliers([*fleet(*usual, 100, 100), *spine]) == []
    counted = [replace(it, unit="packets") for it in fleet(*usual, 50)]
    assert judge.outliers(counted) == [] and judge.learn(counted) == {}
    # a weaker class is no outlier
    two = fleet(*usual, 60, 60.1, 59.9, 60)
    assert judge.outliers(two, {f"gpu{number:02}": "old" for number in range(7, 11)}) == []
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
        *(
            "drawbridge_proof:",
            "  limits:",
            '    - {measure: "copy", value: "194.9"}',
            '    - {measure: "latency", value: "225.8"}',
        ),
    ]
    classes = {f"gpu{number:02}": "old" for number in range(10)}
    assert judge.learn(measures, classes)["copy"] == 194.4
