# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.memory import (
    SAVED_S,
    Entry,
    Look,
    Reset,
    Verdict,
    effective,
    judged,
    parsed,
    text,
)

LOOK = Look("month", date(2027, 3, 9), used=50.0, now=10_000.0, booted=5_000.0)
OLD = Entry("2027-02-01")
ORDERED = Entry("2027-02-01", Reset("2027-03-01", 50.0))
SEEN = Entry("2027-03-01", Reset("2027-03-01", 50.0, seen=9_900.0))


def test_a_qos_that_is_new_goes_on_with_its_use() -> None:
    assert judged(None, LOOK) == Verdict(Entry("2027-03-01"))


def test_a_new_period_is_due_once() -> None:
    verdict = judged(OLD, LOOK)
    assert verdict == Verdict(ORDERED, due=True)
    done = effective(verdict.entry, 0.0, 10_001.0)
    assert done and done == Entry("2027-03-01", Reset("2027-03-01", 50.0, seen=10_001.0))
    assert judged(done, replace(LOOK, used=1.0, now=10_002.0)) == Verdict(done)
    assert judged(done, replace(LOOK, used=1.0, now=10_001.0 + SAVED_S)) == Verdict(Entry("2027-03-01"))


def test_a_machine_that_was_off_for_long_resets_once() -> None:
    assert judged(Entry("2025-01-01"), LOOK) == Verdict(Entry("2025-01-01", ORDERED.reset), due=True)


def test_a_period_that_became_another_kind_resets_only_if_that_has_begun() -> None:
    assert judged(Entry("2027-02-01"), replace(LOOK, kind="year")) == Verdict(Entry("2027-02-01"))
    assert judged(Entry("2027-01-01"), replace(LOOK, kind="quarter")) == Verdict(Entry("2027-01-01"))
    assert judged(Entry("2026-10-01"), replace(LOOK, kind="quarter")).due


def test_a_program_that_died_after_the_reset_does_not_make_it_twice() -> None:
    """Lower use proves it."""
    assert judged(ORDERED, replace(LOOK, used=3.0)) == Verdict(
        Entry("2027-03-01", Reset("2027-03-01", 50.0, seen=LOOK.now))
    )


def test_a_reset_without_effect_is_ordered_again_for_the_period_of_today() -> None:
    assert judged(ORDERED, LOOK) == Verdict(ORDERED, due=True)
    later = replace(LOOK, today=date(2027, 4, 2), used=60.0)
    assert judged(ORDERED, later) == Verdict(Entry("2027-02-01", Reset("2027-04-01", 60.0)), due=True)
    assert effective(ORDERED, 50.0, 1.0) is None
    assert effective(OLD, 0.0, 1.0) is None


def test_a_reset_that_a_restart_of_slurmctld_lost_is_ordered_again() -> None:
    assert judged(SEEN, LOOK) == Verdict(SEEN)
    assert judged(SEEN, replace(LOOK, booted=9_950.0)).due
    assert not judged(SEEN, replace(LOOK, used=49.0, booted=9_950.0)).due
    # nothing was used before, so that nothing can come back
    unused = replace(SEEN, reset=Reset("2027-03-01", 0.0, seen=9_900.0))
    assert not judged(unused, replace(LOOK, booted=9_950.0)).due


def test_much_use_in_the_new_period_is_no_lost_reset() -> None:
    assert not judged(SEEN, replace(LOOK, used=5_000.0)).due


@pytest.mark.parametrize("since", ["2027-03-10", "2030-01-01"])
def test_a_clock_before_the_record_changes_nothing(since: str) -> None:
    """As of a host that has booted without a clock."""
    assert judged(Entry(since), LOOK) == Verdict(Entry(since), amiss=True)


def test_the_record_is_read_as_it_was_written() -> None:
    entries = {"a": OLD, "b": ORDERED, "c": SEEN}
    assert parsed(text(entries)) == entries


@pytest.mark.parametrize("record", ["", "[]", '{"a": {}}', '{"a": {"since": "today"}}', '{"a": {"since": 7}}'])
def test_a_broken_record_is_an_error(record: str) -> None:
    with pytest.raises(ValueError):
        parsed(record)
