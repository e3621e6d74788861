# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting import terms

TERMS = {term.key: term for term in terms.ACCOUNT}


@pytest.mark.parametrize(
    ("listed", "read"),
    [
        # as `sacctmgr -nP list` of Slurm 24.11.5 printed limits set to 240, 1-02:03:04 and nothing
        ("04:00:00", "240"),
        ("1-02:04:00", "1564"),
        ("", ""),
        # what people may write
        ("1-02:03:04", "1564"),
        ("3-00", "4320"),
        ("30", "30"),
        ("-1", ""),
    ],
)
def test_times_are_minutes_rounded_up_as_slurm_does(listed: str, read: str) -> None:
    assert terms.minutes(listed) == read


def test_amounts_come_in_one_order_and_memory_in_mebibytes() -> None:
    # Slurm 24.11.5 listed mem=100000 and mem=1T so
    assert (
        terms.amounts("gres/gpu=16,mem=100000M") == terms.amounts("mem=100000,gres/gpu=16") == "gres/gpu=16,mem=100000"
    )
    assert terms.amounts("mem=1T") == "mem=1048576"


def test_each_term_has_its_own_word_for_unset() -> None:
    assert TERMS["qos"].change("urgent", "normal", "") == "qos="
    assert TERMS["MaxWall"].change("240", "", "") == "MaxWall=-1"
    assert TERMS["parent"].change("sub", "root", "root") == "parent=root"
    unset = {term.key: term.unset for term in terms.QOS}
    assert (unset["Preempt"], unset["PreemptMode"], unset["MaxJobsPerUser"]) == ("", "cluster", "-1")


def test_missing_terms_are_as_in_a_new_record() -> None:
    assert terms.shown(terms.normalized(terms.QOS, {})) == "Priority=0 PreemptMode=cluster"
    assert terms.shown(terms.normalized(terms.ACCOUNT, {"GrpJobs": "-1"})) == "parent=root fairshare=1"
