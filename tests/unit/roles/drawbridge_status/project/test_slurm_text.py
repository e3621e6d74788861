# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of real daemons of two releases, as the operator cleo and the user ada got it beside PrivateData."""

from __future__ import annotations

import pytest

from roles.drawbridge_status.files.budget import usage
from roles.drawbridge_status.files.project import slurm_text
from roles.drawbridge_status.files.project.model import Account, Waiting
from roles.drawbridge_status.files.project.slurm_text import Hours, Run
from tests.unit.roles.drawbridge_status.project.project_scene import RELEASES, sections

pytestmark = pytest.mark.parametrize("release", RELEASES)


def test_use_is_that_of_an_accounts_own_people(release: str) -> None:
    """sreport adds the accounts below to an account's own row."""
    found = slurm_text.used(sections(release)["cleo sreport 2026-11-01"])
    assert found == {
        "vision": {"ada": Hours(48.0, 48.0, 6.0), "ben": Hours(65.5, 65.5, 9.5)},
        "sub": {"ben": Hours(1.0, 1.0, 1.0)},
    }


def test_a_job_across_the_end_of_a_month_counts_in_both(release: str) -> None:
    parts = sections(release)
    assert slurm_text.used(parts["cleo sreport 2026-10-01"]) == {"vision": {"ben": Hours(32.0, 32.0, 4.0)}}
    assert slurm_text.used(parts["ada sreport 2026-10-01"]) == {}


def test_runs_of_jobs(release: str) -> None:
    first, *_others, last = slurm_text.parsed_runs(sections(release)["cleo sacct"])
    assert first == Run("3", "ben", "COMPLETED", 1793476800.0, 1793484000.0, 1793505600.0, 16)
    assert (last.job, last.state, last.start, last.end, last.gpus) == ("6", "PENDING", 0.0, 0.0, 0)


def test_accounts_with_their_people(release: str) -> None:
    parts = sections(release)
    assert slurm_text.accounts(parts["cleo assoc"]) == {
        "bio": Account("0", ("cleo", "dan")),
        "vision": Account("", ("ada", "ben")),
    }
    assert slurm_text.accounts(parts["cleo accounts"])["bio"].takes_jobs is False
    hidden = slurm_text.accounts(parts["ada assoc"])
    assert hidden == {"vision": Account(None, ("ada",))} and hidden["vision"].takes_jobs is None


def test_who_sees_all_and_what_private_data_hides(release: str) -> None:
    parts = sections(release)
    assert slurm_text.sees_all(parts["cleo admin"]) and not slurm_text.sees_all(parts["ada admin"])
    assert slurm_text.hidden(parts["ada private"]) >= {"accounts", "jobs", "usage", "users"}
    assert slurm_text.hidden("PrivateData            = none\n") == frozenset()
    assert slurm_text.names(parts["ada own"]) == {"vision"}


def test_jobs_that_wait_and_the_use_of_a_budget(release: str) -> None:
    parts = sections(release)
    assert slurm_text.parsed_waiting(parts["ada squeue"]) == [Waiting("6", "ada", "PENDING", "QOSGrpGRESMinutes")]
    assert usage.parsed(parts["ada use"])["project-vision"].budget["gres/gpu"].limit == 6000


def test_lines_of_another_shape_are_skipped(release: str) -> None:
    assert slurm_text.used(f"{release}\na|b|cpu|many\na|b|energy|3\n") == {}
    assert slurm_text.parsed_runs("1|ada|RUNNING\n") == []
    assert slurm_text.parsed_runs("1|ada|CANCELLED by 0|1|Unknown|None|9|\n")[0].state == "CANCELLED"


def test_a_job_waits_from_when_it_could_start(release: str) -> None:
    """One with --begin is eligible later than it was submitted."""
    [run] = slurm_text.parsed_runs(f"{release}|ada|COMPLETED|100|900|1000|2000|gres/gpu=1\n")
    assert (run.ready, run.start) == (900.0, 1000.0)
