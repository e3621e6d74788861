# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Samples of a look at Slurm, as the lines of the file."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.exposition import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.slurm_note import Count
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.slurm_samples import (
    Look,
    samples,
    silent,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.slurm_text import (
    Job,
    Node,
    Scheduler,
)

NOW = 10_000.0
SCHEDULER = Scheduler(9, 4, 0.5, 12, 0.002)
NODES = (
    Node("n1", "allocated", ("train", "all")),
    Node("n2", "mixed", ("train", "all")),
    Node("n3", "drained", ("all",), True, "drawbridge: health: /fs1 is not mounted", "root", 9000.0),
    Node("n4", "down", ("all",), True, "Not responding", "slurm", 9100.0),
    Node("n5", "draining", ("all",), True, 'a "new" fan', "ben"),
)


def waiting(eligible: float | None, held: bool = False, partition: str = "train") -> Job:
    return Job("9", "ada", "nlp", partition, "PENDING", held, eligible, None, None, "")


def running(number: str, nodes: str, state: str = "RUNNING") -> Job:
    return Job(number, "ada", "nlp", "train", state, False, 1.0, 2.0, 3.0, nodes)


def lines(*jobs: Job, counts: dict[str, Count] | None = None, scheduler: Scheduler = SCHEDULER) -> dict[str, str]:
    """Values by name and labels, without the common start of names."""
    found = text(samples(Look(NODES, jobs, scheduler, NOW), counts or {})).splitlines()
    pairs = (line.rpartition(" ") for line in found if not line.startswith("#"))
    return {name.replace("drawbridge_slurm_", ""): value for name, _blank, value in pairs}


def part(found: dict[str, str], name: str) -> dict[str, str]:
    return {key[len(name) :]: value for key, value in found.items() if key.partition("{")[0] == name}


def test_each_node_of_a_job_names_it() -> None:
    found = lines(running("4", "n[1-2]"), running("5", "n2", "SUSPENDED"), running("6", "n1", "COMPLETING"))
    rest = 'user="ada",account="nlp",partition="train"'
    assert [*part(found, "node_job_info")] == [
        f'{{node="{node}",job="{job}",{rest}}}' for node, job in (("n1", 4), ("n2", 4), ("n2", 5))
    ], "a job that completes has ended"


def test_a_drain_has_origin_reason_and_time() -> None:
    found = lines()
    assert part(found, "node_drained_info") == {
        '{node="n3",origin="health",reason="drawbridge: health: /fs1 is not mounted"}': "1",
        '{node="n4",origin="slurm",reason="Not responding"}': "1",
        '{node="n5",origin="person",reason="a \\"new\\" fan"}': "1",
    }
    assert part(found, "node_drained_since_timestamp_seconds") == {'{node="n3"}': "9000", '{node="n4"}': "9100"}
    assert part(found, "node_state_info")['{node="n5",state="draining"}'] == "1"
    counted = {"idle": 0, "mixed": 1, "allocated": 1, "draining": 1, "drained": 1, "down": 1}
    assert part(found, "nodes") == {f'{{state="{state}"}}': str(number) for state, number in counted.items()}


def test_the_queue_by_partition_and_state() -> None:
    found = lines(waiting(9400), waiting(9700), running("4", "n1"), running("6", "n1", "COMPLETED"))
    assert part(found, "jobs") == {
        '{partition="all",state="pending"}': "0",
        '{partition="all",state="running"}': "0",
        '{partition="train",state="pending"}': "2",
        '{partition="train",state="running"}': "1",
    }
    assert part(found, "oldest_pending_seconds") == {'{partition="all"}': "0", '{partition="train"}': "600"}


def test_a_job_that_may_not_start_yet_does_not_wait() -> None:
    found = lines(waiting(9400, held=True), waiting(None), waiting(99_999))
    assert part(found, "oldest_pending_seconds")['{partition="train"}'] == "0"


def test_a_partition_has_counters_before_its_first_job_and_after_its_last_node() -> None:
    """Without a zero, the first start would be no increase."""
    found = lines(waiting(None, partition="new"), counts={"old": Count(2, 30.5, 1, 7)})
    assert part(found, "job_starts_total") == {
        f'{{partition="{name}"}}': value for name, value in (("all", "0"), ("new", "0"), ("old", "2"), ("train", "0"))
    }
    names = ("job_wait_seconds_total", "job_ends_total", "job_run_seconds_total")
    assert [found[f'{name}{{partition="old"}}'] for name in names] == ["30.5", "1", "7"]


def test_the_scheduler_as_far_as_sdiag_tells() -> None:
    names = {"started_jobs_total", "backfilled_jobs_total", "backfill_cycle_seconds", "backfill_queue_length"}
    names |= {"scheduler_cycle_seconds", "up", "read_timestamp_seconds"}
    assert {name: value for name, value in lines().items() if name in names} == {
        **{"up": "1", "read_timestamp_seconds": "10000", "started_jobs_total": "9", "backfilled_jobs_total": "4"},
        **{"backfill_cycle_seconds": "0.5", "backfill_queue_length": "12", "scheduler_cycle_seconds": "0.002"},
    }
    found = lines(scheduler=Scheduler(None, None, None, None, None))
    assert names & found.keys() == {"up", "read_timestamp_seconds"}


def test_a_silent_slurmctld_leaves_one_sample() -> None:
    assert [line for line in text(silent()).splitlines() if line[0] != "#"] == ["drawbridge_slurm_up 0"]
