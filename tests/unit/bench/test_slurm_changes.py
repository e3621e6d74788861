# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from bench.slurm_changes import CHANGES, RECONFIGURE, SLURMCTLD, SLURMD, Change, Seen, changed, disturbed, page, site
from tests.unit.module_utils.site.test_refused import site as whole

SEEN = Seen("a", "100", "b", "JobState=RUNNING")


def test_there_are_twenty_and_each_is_a_site_that_we_accept() -> None:
    assert len(CHANGES) == 20
    slurm = site()
    for change in CHANGES:
        slurm = changed(slurm, change)
        load({**whole("lab"), "drawbridge_slurm": slurm})


def test_a_change_leaves_the_site_before_it_alone() -> None:
    before = site()
    assert changed(before, Change("partitions.0.max_time", "1-00"))["partitions"][0]["max_time"] == "1-00"
    assert before == site()


def test_what_happened_is_told_by_identities() -> None:
    assert disturbed(SEEN, SEEN) == set()
    assert disturbed(SEEN, replace(SEEN, process="101")) == {RECONFIGURE}
    assert disturbed(SEEN, replace(SEEN, slurmd="c")) == {SLURMD}
    assert disturbed(SEEN, replace(SEEN, slurmctld="x", process="101")) == {SLURMCTLD, RECONFIGURE}


def test_the_page_has_a_line_a_change() -> None:
    row = {"key": "topology", "value": "none", "took": "reconfigure", "job": "yes"}
    assert page([row]).splitlines()[-1] == "| `topology` = `none` | reconfigure | yes |"
