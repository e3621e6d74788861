# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import words
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language import values


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        *(
            ("PrivateData", "jobs,Usage", "usage,jobs"),
            ("MaxTime", "infinite", "UNLIMITED"),
            ("MaxTime", "1-0", "1440"),
        ),
        *(("StateSaveLocation", "/srv/x/", "/srv/x"), ("LLN", "yes", "1"), ("MaxNodes", "-1", "UNLIMITED")),
        *(("TaskPlugin", "affinity,cgroup", "task/cgroup,task/affinity"), ("AuthType", "munge", "auth/munge")),
        *(("PriorityCalcPeriod", "00:05:00", "5"), ("DefMemPerCPU", "4k", "4096"), ("KillWait", "0x1E", "30")),
        *(
            ("MaxTime", "10:30", "0:11:00"),
            ("AllowGroups", "All", "ALL"),
            ("TopologyPlugin", "topology/default", "topology/flat"),
        ),
        *(("AllowAccounts", "a,b,", "b,a"), ("State", "UNKNOWN", "IDLE")),
    ],
)
def test_what_slurm_reads_alike_is_the_same(key: str, old: str, new: str) -> None:
    assert values.same(key, old, new)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        *(("StateSaveLocation", "/srv/Slurm", "/srv/slurm"), ("MailProg", "/A", "/a"), ("AllowGroups", "a", "A")),
        *(("JobSubmitPlugins", "partition,lua", "lua,partition"), ("CliFilterPlugins", "lua,a", "a,lua")),
        *(("Feature", "A", "a"), ("MaxTime", "4:00", "4:00:00"), ("Weight", "1", "10"), ("KillWait", "010", "10")),
        *(("PrivateData", "jobs", "jobs,usage"), ("ClusterName", "a,b", "b,a"), ("GresTypes", "gpu", "GPU")),
    ],
)
def test_what_slurm_tells_apart_is_not(key: str, old: str, new: str) -> None:
    assert not values.same(key, old, new)


@pytest.mark.parametrize(
    ("text", "expected"), [("5", 300), ("4:05", 245), ("1:2:3", 3723), ("2-3", 183600), ("1-0:1", 86460)]
)
def test_times_have_slurms_units(text: str, expected: int) -> None:
    assert values.seconds(text) == expected


def test_a_text_that_is_no_time_or_number_is_compared_as_it_is() -> None:
    assert values.seconds("soon") is None
    assert values.same("MaxTime", "soon", "soon") and not values.same("MaxTime", "soon", "later")
    assert values.number("12x") == "12x" and values.flag("maybe") == "maybe"


PLACES = {
    "slurm.conf": words.KEYS,
    "partition": words.PARTITION_KEYS,
    "node": words.NODE_KEYS,
    "cgroup.conf": words.CGROUP_KEYS,
    "slurmdbd.conf": words.DBD_KEYS,
}


@pytest.mark.parametrize("place", values.OWN)
def test_what_slurm_takes_without_a_line_is_of_keys_that_it_has(place: str) -> None:
    assert {*values.OWN[place]} <= {key.lower() for key in words.spelled(PLACES[place])}


def test_each_meaning_is_of_a_key_that_slurm_has() -> None:
    known = {key.lower() for table in PLACES.values() for key in words.spelled(table)}
    assert {*values._MEANINGS, *values.PLUGINS} <= known | {"sockets"}
