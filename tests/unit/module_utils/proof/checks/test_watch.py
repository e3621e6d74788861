# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import collect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    WATCH,
    Check,
    Output,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.table import CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.watch import WATCH_CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Found
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode

from tests.unit.module_utils.proof.checks.healthy import NODE, OUTPUTS, SYSTEM, TEXTS, ran, words

READS = {"chronyc": "-c", "timedatectl": "show", "systemctl": "show", "df": "--output", "nvidia-smi": "-q"}


def found(node: ProofNode, outputs: Mapping[tuple[str, ...], str | Output], texts: Mapping[str, str]) -> list[Found]:
    programs = ran(outputs, collect.programs(WATCH_CHECKS, node))
    return [one for _check, some in collect.results(WATCH_CHECKS, node, programs, texts) for one in some]


def test_watch_checks_only_read_and_no_proof_runs_them() -> None:
    for argv in map(words, collect.programs(WATCH_CHECKS, NODE)):
        assert argv[1].startswith(READS[argv[0]])
    assert {check.kind for check in WATCH_CHECKS} == {WATCH} and not {*WATCH_CHECKS} & {*CHECKS}


def test_names_are_no_others_and_each_row_says_what_a_failure_means() -> None:
    every: list[Check] = [*CHECKS, *WATCH_CHECKS]
    assert len({check.name for check in every}) == len(every)
    assert all(check.meaning.endswith(".") and check.page for check in WATCH_CHECKS)


def test_a_healthy_node_has_no_finding() -> None:
    assert found(replace(NODE, gpus=8, memory_mib=2_063_000), OUTPUTS, {**TEXTS, **SYSTEM}) == []


def test_a_container_with_nearly_no_files_and_tools_has_no_finding() -> None:
    node = replace(NODE, memory_mib=2_063_000, gpus=0)
    absent = {words(one): Output("", "", 127) for one in collect.programs(WATCH_CHECKS, node)}
    assert len(absent) == 3 and found(node, absent, {}) == []
