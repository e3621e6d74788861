# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.judge import judge_all
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.load_node import NODE_CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import (
    ProofNode,
    ProofTraining,
)

from tests.unit.module_utils.proof.transcripts import printed

MEMORY, TRAINING = NODE_CHECKS
SCRIPT = ProofTraining("/opt/train", 300, "tokens/s", 1000.0)
NODE = ProofNode(
    "gpu01", "h100", sockets=2, cores=96, socket_memory_gb_s=250, tools={"stream": "/opt/stream"}, training=SCRIPT
)


def said(stdout: str, code: int = 0, node: ProofNode = NODE) -> list[str]:
    _measures, findings = judge_all(node, TRAINING, TRAINING.found(node, [Output(stdout, "", code)], {}))
    return [it.text for it in findings]


def test_memory_bandwidth() -> None:
    [program] = MEMORY.programs(NODE)
    assert program.argv[-1] == "/opt/stream" and "OMP_NUM_THREADS=96" in program.argv
    rows, findings = judge_all(NODE, MEMORY, MEMORY.found(NODE, [Output(printed("hpcc"), "", 0)], {}))
    assert rows[0].limit == 500 and findings[0].text.startswith("gpu01: memory bandwidth is 486.7 GB/s, below 500 GB/s")
    free = replace(NODE, socket_memory_gb_s=0)
    rows, findings = judge_all(free, MEMORY, MEMORY.found(free, [Output(printed("hpcc"), "", 0)], {}))
    assert rows[0].limit is None and rows[0].passed and not findings
    bare = replace(NODE, tools={})
    assert not MEMORY.programs(bare)
    assert [it.warning for it in judge_all(bare, MEMORY, MEMORY.found(bare, [], {}))[1]] == [True]


def test_a_training_script() -> None:
    [program] = TRAINING.programs(NODE)
    assert (program.argv[-1], program.seconds) == ("/opt/train", 300)
    assert TRAINING.applies(NODE) and not TRAINING.applies(replace(NODE, training=ProofTraining()))
    assert said("step 1\n1000\n") == []
    assert said("1200\n999.5\n") == ["gpu01: training is 999.5 tokens/s, below 1000 tokens/s (1000 tokens/s (intent))"]
    slow = replace(NODE, training=replace(SCRIPT, unit="s", limit=0.25, at_most=True))
    assert said("0.2501\n", node=slow) == ["gpu01: training is 0.2501 s, above 0.25 s (0.25 s (intent))"]


@pytest.mark.parametrize(
    ("stdout", "code", "why"),
    [
        ("1200\n", 1, "exit code 1; last line: 1200"),
        ("1200\n", 124, "hung"),
        ("1200\ndone\n", 0, "the tool printed done as the value"),
        ("", 0, "the tool printed nothing as the value"),
        ("0\n", 0, "the tool printed 0 as the value"),
    ],
)
def test_a_script_without_a_value(stdout: str, code: int, why: str) -> None:
    [text] = said(stdout, code)
    assert text.startswith("gpu01: training was not measured: ") and why in text
