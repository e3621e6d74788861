# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import (
    lines,
    settings,
    with_defaults,
)

CONF = """
# a comment with Key=value
ClusterName = old   # behind a line
slurmctldport=7817
SchedulerParameters=bf_continue,\\
bf_window=2880
MailProg="/opt/my mail"
Include nodes.conf
NodeName=DEFAULT Sockets=2 State=UNKNOWN
NodeName=gpu01 Sockets=4
NodeName=gpu02
"""


def shown(text: str) -> list[str]:
    return [str(line) for line in lines(text, lambda name: f"NodeName=of-{name}\n")]


def test_lines_are_read_as_slurm_reads_them() -> None:
    assert shown(CONF) == [
        *("ClusterName=old", "slurmctldport=7817", "SchedulerParameters=bf_continue,bf_window=2880"),
        *('MailProg="/opt/my mail"', "NodeName=of-nodes.conf", "NodeName=DEFAULT Sockets=2 State=UNKNOWN"),
        *("NodeName=gpu01 Sockets=4", "NodeName=gpu02"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Include a\n", "without an end"),
        ("Include a/*.conf\n", "no patterns"),
        ("Include %c.conf\nClusterName=late\n", "which no line before it sets"),
    ],
)
def test_an_include_at_which_slurm_stops_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        lines(text, lambda _: "Include a\n")


def test_the_clusters_name_in_an_include_is_in_small_letters() -> None:
    found = lines("ClusterName=Demo\nInclude %c-more.conf\n", lambda name: f"MailProg=/{name}\n")
    assert [line.name for line in found] == ["Demo", "/demo-more.conf"]


def test_a_file_that_is_included_may_name_the_cluster() -> None:
    texts = {"name.conf": "ClusterName=demo\n", "demo.conf": "KillWait=9\n"}
    assert [line.name for line in lines("Include name.conf\nInclude %c.conf\n", texts.__getitem__)] == ["demo", "9"]


def test_some_keys_of_partitions_are_not_inherited() -> None:
    (line,) = with_defaults(
        lines("PartitionName=DEFAULT LLN=YES ExclusiveUser=YES\nPartitionName=a\n"), "partitionname"
    )
    assert [*line.values()] == ["lln"]


def test_an_escaped_hash_is_a_part_of_the_value() -> None:
    (line,) = lines("JobCompLoc=a\\#b # comment\n")
    assert line.name == "a#b"


def test_passwords_are_never_shown() -> None:
    assert shown("StoragePass=secret\n") == ["StoragePass=(hidden)"]


def test_the_last_setting_counts_and_case_does_not() -> None:
    assert settings(lines("KillWait=1\nkillwait=2\nNodeName=a\n")) == {
        "killwait": [("KillWait", "1"), ("killwait", "2")]
    }


def test_defaults_fill_the_lines_that_follow() -> None:
    filled = with_defaults(lines(CONF), "nodename")
    assert [line.values().get("sockets") for line in filled] == [("Sockets", "4"), ("Sockets", "2")]
