# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import STATE
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.collect import programs
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.state import STATE_CHECKS

from tests.unit.module_utils.proof.checks.healthy import NODE, words

READS = {"ethtool": {"-m", "-S", "-I"}, "nvidia-smi": {"-q", "nvlink"}, "dmesg": {""}}


def test_state_checks_only_read_and_one_call_answers_for_all_gpus() -> None:
    ran = [words(program) for program in programs(STATE_CHECKS, NODE)]
    assert all("".join(argv[1:2]) in READS[argv[0]] for argv in ran)
    assert (ran.count(("nvidia-smi", "-q", "-x")), len(ran)) == (1, 3 + 3 * 2)
    assert {check.kind for check in STATE_CHECKS} == {STATE}
