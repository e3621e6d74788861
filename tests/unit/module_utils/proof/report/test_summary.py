# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report import summary
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import (
    FabricSummary,
    ProofFinding,
)

from tests.unit.module_utils.proof.results import LONG, example

CLEAN = example(8, faulty=False)
MANY = [ProofFinding("fabric", "cable", f"a{it}: " + "slow " * 60, "ethtool", (f"a{it}",), (it,)) for it in range(90)]


@pytest.mark.parametrize("name", ["gpu{:03d}", LONG])
@pytest.mark.parametrize("nodes", [8, 128, 512])
def test_it_has_at_most_forty_lines_and_begins_with_the_verdict(nodes: int, name: str) -> None:
    faulty = example(nodes, name=name)
    for result in (faulty, replace(faulty, findings=[*faulty.findings, *MANY])):
        lines = summary.text(result, example(nodes, 1, faulty=False, name=name))
        assert len(lines) <= summary.LINES
        assert max(map(len, lines)) <= summary.WIDTH
        assert lines[0].startswith(f"Proof of hgx: failed. {nodes - 5} of {nodes} nodes proved; 4 failed; 1 skipped;")
        assert lines[1:3] == ["", "Findings"]


def test_findings_without_space_are_counted() -> None:
    lines = summary.text(replace(CLEAN, findings=MANY))
    shown = sum("a" in line and "slow slow" in line and line.startswith("  a") for line in lines)
    assert f"  {90 - shown} further findings: see the page or the JSON" in lines and shown > 3


def test_findings_are_placed_and_say_what_to_look_at() -> None:
    lines = summary.text(example(8))
    assert lines[3:7] == [
        "  gpu002 rail3: tests with it failed, tests without it passed (fabric, cable)",
        "    Look at: ethtool -m rail3",
        "  gpu005: tests with it failed, tests without it passed (fabric, node)",
        "    Look at: the log of the group's tests",
    ]
    assert "  gpu008: skipped: it is drained: memory is replaced (admin)" in lines


def test_numbers_follow() -> None:
    result = replace(CLEAN, fabric=FabricSummary(144, 22, 715, 130305, 4088, 4087, 1920, 1918))
    text = "\n".join(summary.text(result, CLEAN))
    assert "Fabric: 144 tests in 22 rounds, 11 min 55 s; all pairs of nodes would be 130,305 tests" in text
    assert "4,087 of 4,088 ports and 1,918 of 1,920 leaf pairs were in a passing test" in text
    assert "the limit is at least 380.4 Gb/s: 0.97 x 98.0 % (4096-byte packets over RoCEv2) x 400 Gb/s" in text.replace(
        "\n ", ""
    )
    assert "host_to_device: " in text and "64 measured" in text
    assert text.endswith("Since the proof of 2026-11-20T02:31:07+00:00: no difference")


def test_differences_are_counted() -> None:
    last = " ".join(it.strip() for it in summary.text(example(8), CLEAN)[-2:])
    assert "gpu[002,005-007] proved -> failed; gpu008 proved -> skipped; 4 findings new" in last


def test_a_proof_without_a_fabric_has_no_numbers_of_it() -> None:
    text = "\n".join(summary.text(replace(CLEAN, fabric=FabricSummary(), measures=())))
    assert text.rstrip() == "Proof of hgx: passed. 8 of 8 nodes proved. 31 min 7 s."
