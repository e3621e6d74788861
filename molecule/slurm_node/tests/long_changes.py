# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes of the configuration take no more than they have to, and a job goes on through all of them.

Here in three runs; `python -m bench.slurm_changes` makes each change by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench import slurm_changes
from bench.slurm_changes import CHANGES, RECONFIGURE, changed, look, site

ONE_RECONFIGURE = [change for change in CHANGES if change.takes <= {RECONFIGURE}]


@pytest.fixture(scope="module")
def job() -> Iterator[str]:
    number = slurm_changes.start_job()
    yield number
    slurm_changes.on_host("ctl", f"scancel {number}")
    slurm_changes.apply(site())


def test_each_change_takes_what_it_must_and_the_job_goes_on(job: str) -> None:
    slurm = site()
    for change in ONE_RECONFIGURE:
        slurm = changed(slurm, change)
    before = look(job)
    slurm_changes.apply(slurm)
    after = look(job)
    assert slurm_changes.disturbed(before, after) == {RECONFIGURE}
    last = after
    for change in (change for change in CHANGES if change.takes > {RECONFIGURE}):
        slurm, earlier = changed(slurm, change), last
        slurm_changes.apply(slurm)
        last = look(job)
        assert slurm_changes.disturbed(earlier, last) == change.takes, change.key
    assert last.job == before.job
    assert "JobState=RUNNING" in last.job


def test_a_broken_override_is_refused_before_anything_is_touched(job: str) -> None:
    before = look(job)
    conf = slurm_changes.on_host("ctl", "sha256sum /etc/slurm/*.conf")
    broken = {**site(), "settings": {"SwitchType": "switch/nosuch"}}
    with pytest.raises(SystemExit, match="Slurm refuses the new files, so the old ones stay: Can't find plugin"):
        slurm_changes.apply(broken)
    assert slurm_changes.on_host("ctl", "sha256sum /etc/slurm/*.conf") == conf
    assert look(job) == before
