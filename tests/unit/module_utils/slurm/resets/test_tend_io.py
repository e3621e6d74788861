# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.memory import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.settings import Settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.store_io import Store
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.tend_io import Place, tend

from tests.unit.module_utils.slurm.resets.emulated_slurm import DOWN, Slurm

RESET = "sacctmgr -i modify qos where name={} set RawUsage=0"
CLOSE = "sacctmgr -i modify account where name={} cluster=lab set GrpSubmitJobs=0"
SITE = Settings("lab", {"pa": "month", "pb": "year"}, {"proj": "2027-03-31", "late": "2027-12-31"})
OPEN = {"proj": "", "late": ""}


class Controller:
    """A controller with its clock, as long as a test looks."""

    def __init__(self, root: Path, slurm: Slurm) -> None:
        self.slurm, self.said, self.now = slurm, list[str](), 0.0
        self.place = Place(SITE, Store(root / "budget"), slurm, self.said.append, lambda: self.now)

    def look(self, day: str) -> bool:
        """At noon of a day; what it said and changed is new."""
        self.now = datetime.fromisoformat(f"{day}T12:00").timestamp()
        self.said.clear()
        self.slurm.changes.clear()
        return tend(self.place)


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    return Controller(tmp_path, Slurm({"pa": 100, "pb": 200}, dict(OPEN)))


def test_the_first_look_changes_nothing(controller: Controller) -> None:
    assert controller.look("2027-03-09")
    assert (controller.slurm.changes, controller.said) == ([], [])
    assert controller.place.store.load() == {"pa": Entry("2027-03-01"), "pb": Entry("2027-01-01")}


def test_budgets_begin_anew_once_in_their_own_period(controller: Controller) -> None:
    controller.look("2027-02-09")
    assert controller.look("2027-03-01")
    assert controller.slurm.changes == [RESET.format("pa")]
    assert controller.said == ["the budget of QOS pa begins anew, for the period from 2027-03-01"]
    controller.slurm.used["pa"] = 500
    assert controller.look("2027-03-02") and controller.look("2027-03-31")
    assert controller.slurm.changes == []


def test_a_controller_that_was_off_resets_late(controller: Controller) -> None:
    controller.look("2026-11-09")
    assert controller.look("2027-03-09")
    assert controller.slurm.changes == [RESET.format("pa"), RESET.format("pb")]
    assert controller.look("2027-03-10") and controller.slurm.changes == []


def test_a_silent_slurm_is_said_and_tried_again(controller: Controller) -> None:
    controller.look("2027-02-09")
    controller.slurm.down = True
    assert not controller.look("2027-03-01")
    assert controller.said == [str(DOWN)]
    controller.slurm.down = False
    assert controller.look("2027-03-02")
    assert controller.slurm.changes == [RESET.format("pa")]


def test_a_success_without_effect_is_said_and_tried_again(controller: Controller) -> None:
    controller.look("2027-02-09")
    controller.slurm.deaf = True
    assert not controller.look("2027-03-01")
    assert "the use of QOS pa is not reset" in controller.said[0]
    controller.slurm.deaf = False
    assert controller.look("2027-03-01") and controller.slurm.used["pa"] == 0


def test_a_crash_of_slurmctld_that_lost_a_reset_is_noticed(controller: Controller) -> None:
    controller.look("2027-02-09")
    controller.look("2027-03-01")
    controller.slurm.used["pa"], controller.slurm.booted = 100, int(controller.now) + 1
    assert controller.look("2027-03-02")
    assert controller.slurm.changes == [RESET.format("pa")]


def test_a_look_that_was_cut_off_after_the_reset_does_not_make_it_twice(controller: Controller) -> None:
    """Its order is in the record before."""
    controller.look("2027-02-09")
    controller.slurm.cut = True
    assert not controller.look("2027-03-01")
    order = controller.place.store.load()["pa"].reset
    assert order and (order.period, order.used, order.seen) == ("2027-03-01", 100.0, 0.0)
    controller.slurm.cut, controller.slurm.used["pa"] = False, 3
    assert controller.look("2027-03-01") and controller.slurm.changes == []


def test_a_qos_that_slurm_does_not_have_yet_is_said_and_others_go_on(controller: Controller) -> None:
    controller.look("2027-02-09")
    del controller.slurm.used["pb"]
    assert not controller.look("2027-03-01")
    assert "slurmctld does not have QOS pb yet" in controller.said
    assert controller.slurm.changes == [RESET.format("pa")]


def test_a_qos_that_left_the_intent_leaves_the_record(controller: Controller) -> None:
    controller.look("2027-02-09")
    controller.place = replace(controller.place, settings=replace(SITE, periods={"pa": "month"}))
    assert controller.look("2027-02-10")
    assert [*controller.place.store.load()] == ["pa"]


def test_a_clock_before_the_record_is_said(controller: Controller) -> None:
    controller.look("2027-02-09")
    assert not controller.look("2000-01-01")
    assert "QOS pa counts since 2027-02-01, which the clock says is to come" in controller.said[0]
    assert controller.slurm.changes == []


def test_accounts_close_on_the_day_after_their_last_and_are_not_touched_again(controller: Controller) -> None:
    controller.look("2027-03-31")
    assert controller.slurm.submits == OPEN
    assert controller.look("2027-04-01")
    assert CLOSE.format("proj") in controller.slurm.changes
    assert "account proj ended on 2027-03-31: it takes no more jobs" in controller.said
    assert controller.look("2027-04-02") and controller.slurm.changes == []


def test_an_account_that_stays_open_is_said(controller: Controller) -> None:
    controller.look("2027-04-01")
    controller.slurm.submits["proj"], controller.slurm.deaf = "", True
    assert not controller.look("2027-04-02")
    assert "still takes jobs, although sacctmgr reported success" in controller.said[0]


def test_an_account_that_slurm_does_not_have_is_no_fault(controller: Controller) -> None:
    del controller.slurm.submits["proj"]
    assert controller.look("2027-04-01") and controller.slurm.changes == []


def test_a_failure_of_budgets_keeps_no_account_open(controller: Controller) -> None:
    controller.look("2027-03-09")
    controller.place.store.record.write_text("{")
    assert not controller.look("2027-04-01")
    assert controller.slurm.changes == [CLOSE.format("proj")]


def test_another_look_does_the_work(controller: Controller) -> None:
    controller.look("2027-02-09")
    with Store(controller.place.store.folder).locked():
        assert controller.look("2027-03-01")
    assert controller.slurm.changes == []
