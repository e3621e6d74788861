# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.text import (
    line_of,
    same_hash,
    settings,
    settings_of,
    text,
)


def test_an_empty_value_is_left_out_and_zero_is_not_empty() -> None:
    assert text(settings({"PrologFlags": "", "ReturnToService": 0}), []) == "ReturnToService=0\n"


def test_blanks_are_quoted() -> None:
    assert line_of({"Reason": "two words"}) == 'Reason="two words"'


def test_only_an_answer_that_says_so_is_a_match() -> None:
    # slurm 24.11.5, captured
    assert same_hash("HashPlugin              = hash/k12\nHASH_VAL                = Match\n")
    assert not same_hash("HASH_VAL                = Different Ours=0x99ff561f Slurmctld=0xc08e314e\n")
    assert not same_hash("")


def test_settings_of_a_file_leave_out_records_and_comments() -> None:
    assert settings_of("# x=1\nClusterName=lab\nNodeName=n1 CPUs=2\n") == {"ClusterName": "lab"}
