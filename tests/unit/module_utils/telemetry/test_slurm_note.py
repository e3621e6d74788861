# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters of starts and ends: each job counts once, whatever the times of the looks are."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.slurm_note import (
    Count,
    Note,
    looked,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.slurm_text import Job


def job(
    state: str, number: str = "7", eligible: float | None = 1000, start: float | None = 1030, end: float | None = None
) -> Job:
    return Job(number, "ada", "nlp", "train", state, False, eligible, start, end, "n1" if start else "")


FIRST = looked(Note(), [], 1010)


def counted(*looks: list[Job], note: Note = FIRST) -> Count | None:
    """The partition's counters after looks, one each minute; each note goes through its file."""
    for at, jobs in enumerate(looks):
        note = looked(Note.parse(note.text()), jobs, 1060 + 60 * at)
    return note.counts.get("train")


def test_a_start_and_an_end_count_once() -> None:
    waits, runs = job("PENDING", start=None), job("RUNNING", end=99999)
    ended = job("COMPLETED", end=1150)
    assert counted([waits]) is None
    assert counted([waits], [runs], [runs]) == Count(1, 30, 0, 0)
    assert counted([waits], [runs], [ended], [ended], []) == Count(1, 30, 1, 120)


@pytest.mark.parametrize("state", ["COMPLETING", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "PREEMPTED"])
def test_a_job_that_began_and_ended_between_two_looks_counts(state: str) -> None:
    assert counted([job(state, end=1050)], [job("COMPLETED", end=1050)]) == Count(1, 30, 1, 20)


@pytest.mark.parametrize("state", ["CONFIGURING", "SUSPENDED", "SIGNALING", "STOPPED"])
def test_a_job_that_has_its_nodes_is_no_end(state: str) -> None:
    assert counted([job(state)], [job("RUNNING")], [job("COMPLETED", end=1090)]) == Count(1, 30, 1, 60)


def test_the_first_look_counts_no_old_jobs() -> None:
    runs, ended = job("RUNNING"), job("COMPLETED", "6", end=1040)
    note = looked(Note(), [runs, ended], 1050)
    assert note.counts == {}
    assert counted([runs, ended], note=note) == Count()
    assert counted([job("COMPLETED", end=1070), ended], note=note) == Count(0, 0, 1, 40)


def test_a_cancelled_job_that_never_ran_is_neither() -> None:
    cancelled = Job("7", "ada", "nlp", "train", "CANCELLED", False, 1000, 1040, 1040, "")
    assert counted([cancelled]) is None


def test_a_job_that_slurm_forgot_ended_when_it_was_seen_last() -> None:
    assert counted([job("RUNNING")], [job("RUNNING")], [], []) == Count(1, 30, 1, 1120 - 1030)


def test_a_requeued_job_starts_again() -> None:
    """It keeps its number. While it waits its start is a guess, or it has none."""
    runs, waits = job("RUNNING"), job("PENDING", eligible=1200, start=2000)
    again = job("RUNNING", eligible=1200, start=1260)
    assert counted([runs], [waits], [waits], [again], [again]) == Count(2, 30 + 60, 1, 1060 - 1030)


def test_unknown_and_odd_times_add_nothing() -> None:
    odd = [job("RUNNING", "8", eligible=None), job("RUNNING", "9", eligible=5000), job("FAILED", "10", end=None)]
    assert counted(odd) == Count(3, 30, 1, 0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seen": 1, "counts": {"a": [1, 2, 3, 4, 5]}, "jobs": {}}', "null"])
def test_another_text_is_no_note(text: str) -> None:
    with pytest.raises(ValueError):
        Note.parse(text)
