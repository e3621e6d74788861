# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import ProofFinding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.folded import folded

LOG, ECC, PRESENT, DISKS, FABRIC = "GPU faults in the log", "GPU memory errors", "GPUs present", "local disks", "fabric"


def finding(check: str, place: str, warning: bool = False, rails: tuple[int, ...] = (), **own: Any) -> ProofFinding:
    nodes = tuple(word for word in place.split() if word.startswith("gpu"))
    return ProofFinding(check, "remark", f"{place}: why", "look", nodes, rails, warning=warning, **own)


@pytest.mark.parametrize(
    ("major", "minor"),
    [
        (finding(ECC, "gpu01 GPU 3"), finding(LOG, "gpu01 GPU 3")),
        (finding(PRESENT, "gpu01"), finding(LOG, "gpu01 GPU 0000:43:00.0")),
        (finding(DISKS, "gpu01"), finding(DISKS, "gpu01", warning=True)),
        (finding("GEMM", "gpu01 GPU 3"), finding("GEMM", "gpu01 GPU 3", warning=True)),
        (finding(FABRIC, "gpu01 rail3 at leaf1", rails=(3,)), finding(FABRIC, "gpu02 -> gpu01", True, (3,))),
        (finding(FABRIC, "gpu01 is slow"), finding(FABRIC, "gpu02 -> gpu01", True, (3,))),
    ],
)
def test_what_a_fault_also_causes_is_evidence(major: ProofFinding, minor: ProofFinding) -> None:
    [found] = folded([minor, major])
    assert (found.text, found.evidence) == (major.text, (minor.text,))
    assert folded([major, minor]) == [found]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (finding(ECC, "gpu01 GPU 3"), finding(LOG, "gpu01 GPU 4")),
        (finding(ECC, "gpu01 GPU 3"), finding(LOG, "gpu02 GPU 3")),
        (finding(LOG, "gpu01 GPU 3"), finding(LOG, "gpu01 GPU 3", rails=(0,))),
        (finding(DISKS, "gpu01"), finding(DISKS, "gpu02", warning=True)),
        (finding(DISKS, "gpu01"), finding("file systems", "gpu01", warning=True)),
        (finding(DISKS, "gpu01"), finding("memory bandwidth", "gpu01")),
        (finding("GEMM", "gpu01 GPU 3"), finding("GEMM", "gpu01 GPU 4", warning=True)),
        (finding(FABRIC, "gpu01 rail3 at leaf1", rails=(3,)), finding(FABRIC, "gpu02 -> gpu01", True, (4,))),
        (finding(DISKS, "gpu01", warning=True), finding(DISKS, "gpu01", warning=True, evidence=("other",))),
    ],
)
def test_two_faults_are_two_findings(first: ProofFinding, second: ProofFinding) -> None:
    assert folded([first, second]) == [first, second]
    assert folded([second, first]) == [second, first]


def test_a_finding_collects_all_that_it_explains() -> None:
    warnings = [finding(DISKS, "gpu01", warning=True, evidence=(str(number),)) for number in range(3)]
    [found] = folded([warnings[0], finding(DISKS, "gpu01"), *warnings[1:]])
    assert len(found.evidence) == 3 and not found.warning
