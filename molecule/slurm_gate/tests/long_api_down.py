# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The API server is down for a minute with short limits, and ten with the site's own. On demand, as long_gate.py is.

Not part of the scenario; docs/concepts/gate.md has the last result.
"""

from __future__ import annotations

import time

import pytest

from tests.schedules.plan import NODES
from tests.stack import PATIENT, all_usable, api_down, finish, job_state, quiet, reason, ssh, until

MINUTE_S = 60
DOWN_S = 600
WITHIN_S = 120


@pytest.mark.usefixtures("usable_before")
def test_four_jobs_end_while_the_api_server_is_down_for_ten_minutes() -> None:
    jobs = [quiet(f"-N1 -w {node}", PATIENT) for node in NODES]
    until(lambda: [job_state(job) for job in jobs] == ["RUNNING"] * 4, 120, "all four run")
    with api_down():
        begun = time.monotonic()
        finish(*jobs)
        until(lambda: all(reason(node) for node in NODES), DOWN_S, "all drained: nobody can prove them empty")
        until(lambda: time.monotonic() > begun + DOWN_S, DOWN_S, "ten minutes are over")
    took = until(lambda: all_usable(NODES), WITHIN_S, "all nodes back, without a person")
    print(f"all four usable {took:.0f} s after the API server's return")


# the last one: its short limits stay until the end of the file
@pytest.mark.usefixtures("impatient", "usable_before")
def test_four_jobs_end_while_the_api_server_is_down_for_a_minute() -> None:
    jobs = [quiet(f"-N1 -w {node}", PATIENT) for node in NODES]
    until(lambda: [job_state(job) for job in jobs] == ["RUNNING"] * 4, 120, "all four run")
    with api_down():
        begun = time.monotonic()
        finish(*jobs)
        until(lambda: all(reason(node) for node in NODES), MINUTE_S, "all drained: nobody can prove them empty")
        assert all("the API server" in reason(node) for node in NODES)
        waiting = quiet("-N4")
        until(lambda: time.monotonic() > begun + MINUTE_S, MINUTE_S, "a minute is over")
    assert [job_state(job) for job in jobs] == ["COMPLETED"] * 4
    ssh("ctl", f"scancel {waiting}")
    took = until(lambda: all_usable(NODES), WITHIN_S, "all nodes back, without a person")
    print(f"all four usable {took:.0f} s after the API server's return")
