# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.text import (
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


def test_files_that_include_each_other_end() -> None:
    assert lines("Include a\n", lambda _: "Include a\n") == []


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
