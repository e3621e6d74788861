# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person should know of a project, from which day on, and what happens next."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from roles.drawbridge_status.files.project import state
from roles.drawbridge_status.files.project.model import CRITICAL, OK, WARNING, Account, Seen, Space, Waiting
from tests.unit.roles.drawbridge_status.project.project_scene import GIB, TIB, TODAY, seen

FULL = Space(1 << 40, 1 << 40, 1000000, 1000000, "root", "vision", "2770")
SHUT = TIB._replace(owner="root", group="root", mode="0500")


def texts(one: Seen, today: date = TODAY) -> list[tuple[int, str]]:
    return [(found.level, found.text) for found in state.findings(one, today)]


def test_a_project_that_is_well_has_no_finding() -> None:
    assert texts(seen()) == [] and state.level(seen(), TODAY) == OK


@pytest.mark.parametrize(
    ("space", "found"),
    [
        (TIB._replace(used=921 * GIB), []),
        (TIB._replace(used=922 * GIB), [(WARNING, "space: 922 GiB of 1 TiB (90 %)")]),
        (TIB._replace(files_used=899999), []),
        (TIB._replace(files_used=900000), [(WARNING, "files: 900 k of 1 M (90 %)")]),
    ],
)
def test_space_and_files_from_90_percent_on(space: Space, found: list[Any]) -> None:
    assert texts(seen(space)) == found


def test_a_full_quota_needs_a_person_and_names_the_error_that_writes_get() -> None:
    assert texts(seen(FULL)) == [
        (CRITICAL, 'space: 1 TiB of 1 TiB (100 %); writes fail with "Disk quota exceeded" (EDQUOT)'),
        (CRITICAL, 'files: 1 M of 1 M (100 %); new files fail with "Disk quota exceeded" (EDQUOT)'),
    ]


def test_a_budget_from_90_percent_on() -> None:
    assert texts(seen(used=5399)) == []
    near = seen(used=5400, running=300)
    assert texts(near) == [(WARNING, "GPU hours: 90 of 100 (90 %)")]
    assert state.findings(near, TODAY)[0].step == "a job starts if its whole time limit fits into 5 GPU hours"


def test_a_spent_budget_needs_a_person_if_it_does_not_begin_anew() -> None:
    assert texts(seen(used=6000)) == [(WARNING, "GPU hours: 100 of 100 (100 %); no job can start until it begins anew")]
    once = seen(used=6000, budget={"gpu_hours": 100})
    assert texts(once) == [(CRITICAL, "GPU hours: 100 of 100 (100 %); no job can start, and it does not begin anew")]


@pytest.mark.parametrize(
    ("ends", "found"),
    [
        ("2026-12-14", []),
        ("2026-12-13", [(WARNING, "it ends in 14 days, on 2026-12-13")]),
        ("2026-11-30", [(WARNING, "it ends in 1 day, on 2026-11-30")]),
        ("2026-11-29", [(WARNING, "it ends today, on 2026-11-29")]),
        ("2026-11-28", [(WARNING, "it ended on 2026-11-28: no new jobs, no access to its directory")]),
        ("2026-08-31", [(WARNING, "it ended on 2026-08-31: no new jobs, no access to its directory")]),
    ],
)
def test_its_last_day(ends: str, found: list[Any]) -> None:
    assert texts(seen(ends=ends)) == found
    assert state.state(seen(ends=ends), TODAY) == ("closed" if "ended" in str(found) else "open")


def test_an_end_that_is_forgotten_needs_a_person() -> None:
    [(level, text)] = texts(seen(ends="2026-08-30"))
    assert level == CRITICAL and text.startswith("it ended on 2026-08-30, 91 days ago")


def test_accounts_that_slurm_lacks_or_closes() -> None:
    assert texts(seen()._replace(account=None)) == [(CRITICAL, "Slurm has no account of this name")]
    assert texts(seen()._replace(account=None, known=False)) == []
    [(level, text)] = texts(seen()._replace(account=Account("0")))
    assert level == WARNING and "takes no jobs (GrpSubmitJobs=0)" in text
    assert texts(seen(submits=0)._replace(account=Account("0"))) == []
    assert texts(seen()._replace(account=Account(None, ("ada",)))) == []


@pytest.mark.parametrize("word", ["archived", "removed"])
def test_a_project_that_is_gone_needs_no_attention(word: str) -> None:
    one = seen(FULL, used=6000, state=word, ends="2026-01-01")._replace(account=None)
    assert texts(one) == [] and state.coming(one, TODAY) == []
    [text] = state.closed(one, TODAY)
    assert text.startswith(f"everything: it is {word}") and ("deleted" in text) == (word == "removed")


def test_the_worst_finding_comes_first() -> None:
    assert [level for level, _text in texts(seen(FULL, ends="2026-12-01"))] == [CRITICAL, CRITICAL, WARNING]


def test_closed_by_an_administrator_or_by_its_end() -> None:
    shut = seen(SHUT, state="closed")._replace(account=Account("0", ("ada",)))
    assert list(state.closed(shut, TODAY)) == [
        "jobs: an administrator closed it",
        "directory: an administrator closed it; its files can't be read now",
    ]
    still = seen(ends="2026-11-28")
    assert list(state.closed(still, TODAY)) == [
        "jobs: it ended on 2026-11-28; the account still takes jobs, for an hour at most",
        "directory: still open, until its last job has ended and projects.yml has run",
    ]
    hidden = still._replace(account=Account(None, ("ada",)), space=None)
    assert list(state.closed(hidden, TODAY)) == ["jobs: it ended on 2026-11-28"]
    assert list(state.closed(seen(), TODAY)) == []


def test_what_happens_next_is_in_the_order_of_days() -> None:
    assert state.coming(seen(ends="2026-11-30"), TODAY) == [
        "2026-11-30  the last day, in 1 day",
        "2026-12-01  no new jobs; when the last job has ended, a run of projects.yml closes the directory",
        "2026-12-01  the budget begins anew in 2 days: its use counts from 0",
        "2027-02-28  until then an administrator must say what becomes of the data",
    ]
    assert state.coming(seen(ends="", budget=None), TODAY) == []
    [ended] = state.coming(seen(ends="2026-11-28"), TODAY)
    assert ended.startswith("2027-02-26  until then")
    assert state.coming(seen(state="closed", ends="2026-12-01"), TODAY) == []


def test_jobs_that_wait_for_the_budget_are_explained() -> None:
    count, why = state.jobs(seen(), TODAY)
    assert count == "1 running, 1 pending"
    assert why == (
        "1 waits (QOSGrpGRESMinutes): its time limit does not fit into the budget of QOS project-vision: "
        "1 of 100 GPU hours are used, so 99 are left; it begins anew on 2026-12-01. A shorter --time may fit"
    )
    two = [Waiting(number, "ada", "PENDING", "AssocGrpSubmitJobsLimit") for number in "12"]
    assert state.jobs(seen()._replace(jobs=two), TODAY)[1] == (
        "2 wait (AssocGrpSubmitJobsLimit): the account takes no more jobs"
    )
    assert state.jobs(seen()._replace(jobs=[Waiting("1", "ada", "PENDING", "Priority")]), TODAY) == ["1 pending"]
    assert state.jobs(seen()._replace(jobs=[]), TODAY) == ["none"]


def test_the_days_left() -> None:
    assert [state.left(it, TODAY) for it in ("", "2026-11-29", "2026-11-20")] == [
        *("-", "2026-11-29 (today)", "2026-11-20 (9 days ago)")
    ]
