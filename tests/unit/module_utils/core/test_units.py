# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import units as unit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.units import (
    Unit,
    UnitState,
    first_errors,
)

from tests.unit.module_utils.answers import Answers, show


@pytest.mark.parametrize("stall_s", [0, 60])
def test_a_running_unit_tells_when_it_started_and_nothing_older(monkeypatch: pytest.MonkeyPatch, stall_s: int) -> None:
    """However long a busy machine stands still between two looks at its clocks."""
    passed = count(step=stall_s)
    clocks = SimpleNamespace(time=lambda: 100_000 + next(passed), monotonic=lambda: 1000 + next(passed))
    monkeypatch.setattr(unit, "time", clocks)
    state = Unit("x.service", Answers({"systemctl show": show(begun_us=900_000_000)})).read()
    assert state.active
    assert 99_900 <= state.started_s <= 99_900 + stall_s


def test_a_stopped_unit_has_no_start() -> None:
    state = Unit("x.service", Answers({"systemctl show": show(active="inactive", enabled="disabled")})).read()
    assert state == UnitState(True, False, False, 0.0)


@pytest.mark.parametrize(("sub", "starting"), [("start", True), ("auto-restart", False)])
def test_a_start_that_goes_on_is_none_that_is_to_come(sub: str, starting: bool) -> None:
    state = Unit("x.service", Answers({"systemctl show": show(active="activating", sub=sub)})).read()
    assert (state.active, state.starting, state.started_s > 0) == (False, starting, starting)


def test_a_host_without_systemd_has_no_units() -> None:
    missing = DeviceError("systemctl can't be run: No such file or directory", cmd=["systemctl"])
    assert not Unit("x.service", Answers({"systemctl": missing})).read().installed


@pytest.mark.parametrize("details", [{"rc": 1, "stdout": ""}, {"stdout": "", "stderr": ""}], ids=["fails", "hangs"])
def test_a_systemd_that_does_not_answer_is_an_error(details: dict[str, Any]) -> None:
    with pytest.raises(DeviceError, match="no answer"):
        Unit("x.service", Answers({"systemctl": DeviceError("no answer", cmd=[], **details)})).read()


def test_a_failed_start_tells_the_first_errors_of_the_journal() -> None:
    journal = "slurmctld: error: Bad value\nerror: Bad value\nslurmctld: fatal: Unable to process configuration file\n"
    run = Answers({"systemctl start": DeviceError("Job failed", rc=1), "journalctl": journal})
    with pytest.raises(DeviceError, match=r"x\.service did not start: Bad value; Unable to process configuration file"):
        Unit("x.service", run).do("start")


def test_without_an_error_in_the_journal_systemctl_is_quoted() -> None:
    run = Answers({"systemctl start": DeviceError("Job failed", rc=1), "journalctl": "Starting x\n"})
    with pytest.raises(DeviceError, match="did not start: Job failed"):
        Unit("x.service", run).do("start")


def test_of_many_errors_the_first_are_reported() -> None:
    assert first_errors("".join(f"error: {number}\n" for number in range(9))) == "0; 1; 2"
