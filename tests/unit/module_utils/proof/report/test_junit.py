# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.junit import xml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import (
    Judged,
    NodeVerdict,
    ProofFinding,
    Result,
)

from tests.unit.module_utils.proof.results import example

FAULTY = example(8)
HOSTILE = "a\x00\x1b[31m<b>&\udc80\uffff"


def read(text: str) -> dict[str, dict[str, ElementTree.Element]]:
    top = ElementTree.fromstring(text)
    assert top.tag == "testsuites"
    return {str(suite.get("name")): {str(case.get("name")): case for case in suite} for suite in top}


@pytest.mark.parametrize("result", [FAULTY, example(8, faulty=False), example(128)], ids=["faulty", "clean", "128"])
def test_numbers_of_suites_are_those_of_their_cases(result: Result) -> None:
    top = ElementTree.fromstring(xml(result))
    for suite in [top, *top]:
        cases = list(suite.iter("testcase"))
        counts = [len(cases), *(sum(it.find(tag) is not None for it in cases) for tag in ("failure", "skipped"))]
        assert [int(str(suite.get(key))) for key in ("tests", "failures", "skipped")] == counts
        assert suite.get("errors") == "0" and float(str(suite.get("time"))) >= 0
        assert len({(it.get("classname"), it.get("name")) for it in cases}) == len(cases)
    assert {suite.get("hostname") for suite in top} == {"hgx"}
    assert next(suite.get("timestamp") for suite in top) == "2026-11-20T02:00:00"


def test_each_node_has_its_verdict() -> None:
    nodes = (*FAULTY.nodes, NodeVerdict("gpu009", "h100", "su1", "unknown"))
    cases = read(xml(replace(FAULTY, nodes=nodes, complete=False)))["verdict"]
    tags = {name: [it.tag for it in case] for name, case in cases.items()}
    assert {name for name, tag in tags.items() if tag == ["failure"]} == {
        *("gpu002", "gpu005", "gpu006", "gpu007", "gpu009", "complete")
    }
    assert (tags["gpu008"], tags["gpu001"]) == (["skipped"], [])
    assert cases["gpu008"][0].get("message") == "it is drained: memory is replaced (admin)"


def test_a_check_has_a_case_for_each_node_and_pair_and_its_finding_is_the_failure() -> None:
    suites = read(xml(FAULTY))
    assert list(suites) == ["verdict", "fabric", "GPU copies", "file systems", "memory", "NVLinks"]
    copies = suites["GPU copies"]
    assert [name for name, case in copies.items() if len(case)] == ["gpu006", "gpu007"]
    assert "host_to_device is 24.0 GB/s, below 46.1 GB/s" in str(copies["gpu006"][0].get("message"))
    assert "Look at: nvidia-smi" in str(copies["gpu006"][0].text)
    fabric = suites["fabric"]
    assert {"gpu002", "gpu005"} <= {name for name, case in fabric.items() if len(case)}
    assert not any(len(fabric[name]) for name in ("gpu001", "gpu003"))
    assert [len(case) for case in suites["NVLinks"].values()] == [0] * 7


def test_a_pair_that_failed_names_the_cause() -> None:
    pair = Judged("fabric", "rail bandwidth", "a1 -> a2 rail 3", 90, "Gb/s", 100, True, "", False, ("a1", "a2"), 3)
    cable = ProofFinding("fabric", "cable", "a2 rail 3 is slow", "", ("a2",), (3,))
    found = read(xml(replace(FAULTY, measures=[pair], findings=[cable])))["fabric"]["a[1-2]"][0]
    assert (found.get("type"), found.get("message")) == ("limit", "a2 rail 3 is slow")
    assert str(found.text).endswith("a1 -> a2 rail 3: rail bandwidth 90 Gb/s, limit at least 100 Gb/s")


def test_places_without_nodes_are_cases() -> None:
    leaf = ProofFinding("fabric", "leaf pair", "slow", "", leaves=("l1", "l2"))
    found = read(xml(replace(FAULTY, measures=(), findings=[leaf, ProofFinding("files", "missing", "none", "")])))
    assert (list(found["fabric"]), list(found["files"])) == (["l1, l2"], ["missing"])


def test_texts_of_hosts_make_no_other_xml() -> None:
    nodes = (NodeVerdict(HOSTILE, "h100", "su1", "failed", (HOSTILE,)),)
    text = xml(replace(FAULTY, cluster=HOSTILE, nodes=nodes))
    assert [it.text for it in read(text)["verdict"]["a??[31m<b>&??"]] == ["a??[31m<b>&??"]
