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


@pytest.mark.parametrize(
    ("key", "listed", "read"),
    [
        # as Slurm 24.11.5 and 26.05.5 listed them, then as the intent writes them
        ("Flags", "DenyOnLimit,EnforceUsageThreshold,NoReserve,OverPartQOS", "x"),
        ("Flags", "OverPartQOS,NoReserve,DenyOnLimit,EnforceUsageThreshold", "x"),
        ("Flags", "", ""),
        ("GraceTime", "00:05:00", "300"),
        ("GraceTime", "1-01:00:00", "90000"),
        ("GraceTime", "00:00:00", ""),
        ("GraceTime", "300", "300"),
        ("GraceTime", "0", ""),
        ("UsageFactor", "0.500000", "0.5"),
        ("UsageFactor", "1.000000", ""),
        ("UsageFactor", "0.000000", "0"),
        ("UsageFactor", "1", ""),
        ("UsageFactor", "10", "10"),
        ("GrpTRESMins", "cpu=100,gres/gpu=10,node=50", "cpu=100,gres/gpu=10,node=50"),
        ("GrpTRESMins", "gres/gpu=10,node=50", "gres/gpu=10,node=50"),
    ],
)
def test_what_qos_have_beside_limits(key: str, listed: str, read: str) -> None:
    term = next(term for term in terms.EXTENDED if term.key == key)
    assert term.read(listed) == (read if read != "x" else "DenyOnLimit,EnforceUsageThreshold,NoReserve,OverPartQOS")


def test_each_of_these_has_its_own_word_for_unset() -> None:
    further = {term.key: term for term in terms.EXTENDED}
    assert further["Flags"].change("NoDecay", "", "") == "Flags=-1"
    assert further["Flags"].change("", "NoDecay", "NoDecay") == "Flags=NoDecay"
    assert further["GraceTime"].change("300", "", "") == "GraceTime=0"
    assert further["UsageFactor"].change("0.5", "", "") == "UsageFactor=1"
    assert (
        further["GrpTRESMins"].change("gres/gpu=10,node=50", "node=60", "node=60") == "GrpTRESMins=gres/gpu=-1,node=60"
    )


def test_they_are_left_alone_until_one_qos_has_one() -> None:
    assert terms.of_qos([{"Priority": "1"}, {}]) == terms.QOS
    assert terms.of_qos([{"Priority": "1"}, {"UsageFactor": "1"}]) == terms.EXTENDED
