# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
    Remark,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import (
    PIECE,
    Answer,
    Request,
    answers,
    of_tests,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites

BIG = ProofNode("", "big", (ProofRail("r0", "m0", 400),))
REQUEST = Request(
    {"big": BIG, "cpu": ProofNode("", "cpu")},
    {"big": "n[1-3,7]", "cpu": "c1"},
    ("clocks",),
    (sites.Test(sites.PAIR, ("n1", "n2"), (0,)),),
    ("rail bandwidth",),
    {"n1": "10.0.0.1"},
    30.0,
    {"n1": ("text", "signature", "key")},
    True,
)
FOUND: list[Found] = [
    Measure("rate", 1.5, "GB/s", "n1"),
    Missing("rate", "n1", f"why\n{900 * ' '}in two lines"),
    Remark("NVLS", "n1", "it's  off", True),
]


def test_a_request_survives_json() -> None:
    text = REQUEST.to_json()
    assert Request.from_json(text) == REQUEST
    assert "\n" not in text


def test_a_request_has_the_node_of_a_name() -> None:
    assert (REQUEST.node("n7").name, REQUEST.node("n7").rails) == ("n7", BIG.rails)
    assert REQUEST.node("c1").node_class == "cpu"
    with pytest.raises(KeyError):
        REQUEST.node("n4")


def test_answers_come_in_any_order_between_lines_of_others() -> None:
    sent = [Answer(f"n{at}", {"a b": FOUND * at, "0": []}, {"kernel": "6.12"}, "") for at in range(20)]
    lines = [line for it in sent for line in it.lines()]
    assert max(map(len, lines)) < PIECE + 40
    for seed in range(3):
        random.Random(seed).shuffle(lines)
        assert answers("\n".join(["srun: x", "drawbridge-proof n1 a b c", "", *lines])) == {it.node: it for it in sent}


def test_an_answer_that_lacks_a_piece_is_none() -> None:
    lines = list(Answer("n1", {"0": FOUND * 20}).lines())
    assert len(lines) > 2
    assert all(answers("\n".join(lines[:at] + lines[at + 1 :])) == {} for at in range(len(lines)))


@pytest.mark.parametrize("text", ["{", "[]", '{"found": {}}', '{"found": {"0": [{"kind": "x"}]}}'])
def test_an_answer_that_can_not_be_read_says_so(text: str) -> None:
    assert answers(f"drawbridge-proof n1 1 1 {text}")["n1"].error.startswith("its answer can't be read")


def test_findings_of_a_test_are_those_of_all_its_nodes() -> None:
    first, second, third = FOUND
    found = of_tests([Answer("n1", {"0": [first]}), Answer("n2", {"0": [second], "11": [third]})])
    assert found == {0: [first, second], 11: [third]}
