# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which jobs get a report in a run of the timer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.due import (
    LOOK_BACK_S,
    SETTLE_S,
    Note,
    due,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.text import Job

NOW = 1767232800.0
JOB = Job("17", "17", state="COMPLETED", started=NOW - 4000, ended=NOW - SETTLE_S, nodes=("gpu01",))
NOTE = Note(NOW - 10000)


def test_a_job_that_has_ended_is_due() -> None:
    assert due([JOB], NOTE, NOW) == [JOB]


@pytest.mark.parametrize(
    "change",
    [
        {"state": "RUNNING", "ended": 0},
        {"ended": NOW - SETTLE_S + 1},
        {"ended": NOTE.since},
        {"started": JOB.ended - 119},
        {"nodes": ()},
        {"comment": "drawbridge gate: try 1 of 5 (run 0): no node"},
        {"comment": "a person's"},
    ],
    ids=str,
)
def test_it_is_not_due(change: dict[str, object]) -> None:
    assert due([replace(JOB, **change)], NOTE, NOW) == []


def test_its_own_report_may_be_written_again() -> None:
    """A job that was requeued has the text of its earlier end."""
    assert due([replace(JOB, comment="drawbridge job: GPU 1 % busy")], NOTE, NOW)


def test_the_earliest_end_is_first() -> None:
    jobs = [replace(JOB, name=str(at), ended=NOW - 500 + at) for at in (3, 1, 2)]
    assert [job.name for job in due(jobs, NOTE, NOW)] == ["1", "2", "3"]


def test_an_end_is_seen_to_once_and_a_later_end_again() -> None:
    note = Note.read(NOTE.text([JOB], NOW), NOW)
    assert note.since == NOTE.since
    assert due([JOB], note, NOW) == []
    again = replace(JOB, ended=JOB.ended + 300)
    assert due([again], note, NOW + 600) == [again]


def test_the_note_forgets_ends_that_no_run_looks_at() -> None:
    first = NOTE.text([JOB, replace(JOB, name="18", ended=NOW - LOOK_BACK_S - SETTLE_S)], NOW)
    assert list(Note.read(first, NOW).done) == [f"17 {JOB.ended:.0f}"]
    later = NOW + LOOK_BACK_S + SETTLE_S
    assert Note.read(Note.read(first, NOW).text([], later), later).done == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"since": "x", "done": {}}', '{"since": 1, "done": []}'])
def test_without_a_note_only_later_ends_count(text: str) -> None:
    assert Note.read(text, NOW) == Note(NOW)
    assert due([JOB], Note.read(text, NOW), NOW) == []
