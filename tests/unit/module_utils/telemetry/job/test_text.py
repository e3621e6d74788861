# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of sacct and squeue as jobs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.hostlist import expand
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.scontrol import fields
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.text import Job

from tests.conformance.tree import ROOT

TEXTS = ROOT / "tests/transcripts/telemetry/slurm"
ROW = {
    "name": "4711_3",
    "number": "4714",
    "user": "ann",
    "account": "nlp",
    "partition": "ai-train",
    "state": "COMPLETED",
    "exit_code": "0:0",
    "submitted": "1767225000",
    "eligible": "1767225200",
    "started": "1767225600",
    "ended": "1767232800",
    "limit": "1440",
    "nodes": "gpu[01-02]",
    "tres": "billing=16,cpu=16,gres/gpu:h100=16,gres/gpu=16,mem=64G,node=2",
    "reason": "None",
    "comment": "",
}


def read(**changes: str) -> Job:
    line = text.SEPARATOR.join({**ROW, **changes}[name] for name in text.COLUMNS)
    [found] = text.jobs(f"{line}\n", expand)
    return found


def recorded(name: str) -> str:
    """What a real Slurm said, without the line of its origin."""
    return (TEXTS / f"{name}.txt").read_text().partition("\n")[2]


def by_name(name: str) -> dict[str, Job]:
    return {job.name: job for job in text.jobs(recorded(name), expand)}


def test_jobs_of_a_real_accounting() -> None:
    found = by_name("sacct_jobs")
    states = {name: (job.state, job.exit_code, job.hostlist, job.gpus) for name, job in found.items()}
    assert states == {
        "1": ("COMPLETED", "0:0", "gpu[01-02]", 2),
        "2": ("FAILED", "3:0", "gpu01", 0),
        **{f"3_{at}": ("COMPLETED", "0:0", "gpu01" if at == 1 else "gpu02", 0) for at in (1, 2, 3)},
        "4": ("PENDING", "0:0", "", 0),
        "5": ("RUNNING", "0:0", "gpu01", 1),
        "8": ("CANCELLED", "0:0", "", 0),
    }
    assert found["3_3"].number == "3", "the array's own number, too"
    assert (found["4"].started, found["5"].ended, found["8"].started) == (0, 0, 0)
    assert (found["1"].limit_s, found["2"].limit_s, found["1"].wait_s(0), found["1"].run_s(0)) == (1800, 0, 3, 1)


def test_slurmctld_shows_the_same() -> None:
    """But for the comment of a job that runs, and for the reason of one that waits."""
    mine, theirs = by_name("sacct_jobs"), by_name("squeue_jobs")
    assert (theirs["4"].reason, theirs["5"].comment) == ("JobHeldUser", "drawbridge gate: try 1 of 5 (run 0): a | b")
    assert {name: replace(job, reason="", comment="") for name, job in theirs.items()} == mine


def test_jobs_that_ended_lately() -> None:
    assert sorted(by_name("sacct_ended")) == ["1", "2", "3_1", "3_2", "3_3", "8"]


def test_partitions_of_a_real_slurm() -> None:
    shown = [fields(line) for line in recorded("partitions").splitlines()]
    assert {line["PartitionName"]: text.whole_nodes(line) for line in shown} == {"ai-train": True, "small": False}


def test_a_line_of_accounting() -> None:
    assert read() == Job(
        *("4711_3", "4714", "ann", "nlp", "ai-train", "COMPLETED", "0:0"),
        *(1767225000, 1767225200, 1767225600, 1767232800, 86400, "gpu[01-02]", ("gpu01", "gpu02"), 16),
    )
    assert (read().wait_s(0), read().run_s(0), read().over) == (400, 7200, True)


def test_columns_of_both_commands_match() -> None:
    assert len(text.SACCT) == len(text.SQUEUE) == len(text.COLUMNS)


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        ("90", 5400),
        ("1-02:03:04", 93784),
        ("02:03:04", 7384),
        ("30:00", 1800),
        ("UNLIMITED", 0),
        ("Partition_Limit", 0),
        ("", 0),
    ],
)
def test_a_time_limit(limit: str, seconds: float) -> None:
    assert read(limit=limit).limit_s == seconds


@pytest.mark.parametrize(
    ("tres", "gpus"),
    [("cpu=1", 0), ("gres/gpu=4", 4), ("cpu=2,gres/gpu:h100=4", 0), ("gres/gpumem=3,gres/gpu=1", 1), ("", 0)],
)
def test_gpus_of_all_types_count_once(tres: str, gpus: int) -> None:
    assert read(tres=tres).gpus == gpus


def test_a_job_that_waits_has_no_start_and_no_end() -> None:
    """slurmctld plans both."""
    found = read(state="PENDING", nodes="", started="1767240000", ended="1767250000", reason="Resources")
    assert (found.started, found.ended, found.nodes, found.reason) == (0, 0, (), "Resources")
    assert (found.wait_s(1767225300), found.run_s(1767225300)) == (100, 0)


def test_a_job_that_runs_has_no_end_but_its_limit() -> None:
    found = read(state="RUNNING", ended="1767312000")
    assert (found.started, found.ended, found.over) == (1767225600, 0, False)
    assert found.run_s(1767225700) == 100


def test_a_job_that_was_cancelled_before_its_start() -> None:
    found = read(state="CANCELLED by 1000", started="1767225500", ended="1767225500", nodes="None assigned")
    assert (found.state, found.started, found.wait_s(1e12)) == ("CANCELLED", 0, 300)


@pytest.mark.parametrize("word", ["Unknown", "None", "N/A", "(null)"])
def test_words_for_nothing(word: str) -> None:
    found = read(submitted=word, eligible=word, account=word, comment=word, reason=word)
    assert (found.submitted, found.account, found.comment, found.reason, found.wait_s(9e9)) == (0, "", "", "", 0)


def test_an_incomplete_line_is_no_job() -> None:
    """A person's AdminComment may have several lines."""
    line = text.SEPARATOR.join({**ROW, "comment": "a | b"}[name] for name in text.COLUMNS)
    assert [found.comment for found in text.jobs(f"{line}\nsecond line of it\n\n", expand)] == ["a | b"]


@pytest.mark.parametrize(
    ("shown", "whole"),
    [
        ({"OverSubscribe": "EXCLUSIVE"}, True),
        ({"OverSubscribe": "NO"}, False),
        ({"OverSubscribe": "NO", "Exclusive": "NODE"}, True),
        ({"OverSubscribe": "NO", "Exclusive": "TOPO"}, True),
        ({"OverSubscribe": "NO", "Exclusive": "USER"}, False),
        ({}, False),
    ],
)
def test_a_partition_of_whole_nodes(shown: dict[str, str], whole: bool) -> None:
    assert text.whole_nodes(shown) == whole


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("4711", True),
        ("4711_3", True),
        ("4711+1", True),
        ("4711_[1-3]", False),
        ("-j", False),
        ("4711;", False),
        ("", False),
    ],
)
def test_a_name_for_commands(name: str, valid: bool) -> None:
    assert bool(text.NAME.fullmatch(name)) == valid


def test_commands() -> None:
    """No job's own text is in a format, so that no user can forge a column."""
    assert text.written(read(), "drawbridge job: x")[-4:] == (
        *("where", "jobid=4711_3", "set", "AdminComment=drawbridge job: x"),
    )
    assert "--starttime=now-60seconds" in text.ended_since(60)
    assert not {"JobName", "Name", "Comment", "WorkDir"} & {*text.SACCT, *text.SQUEUE}
    assert text.accounting("17")[:2] == ("sacct", "--jobs=17")
    assert "--jobs=17" in text.queue("17")
