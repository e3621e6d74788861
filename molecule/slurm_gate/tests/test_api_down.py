# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The API server is down for a minute, with short limits, while four jobs end; long_api_down.py has ten minutes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests import stack
from tests.stack import NODES, PATIENT, all_usable, api_down, finish, job_state, patient, quiet, reason, ssh, until

pytestmark = pytest.mark.usefixtures("usable_before")

WITHIN_S = 120


@contextmanager
def four_jobs_end_without_the_api(seconds: int) -> Iterator[None]:
    """The API server is down that long: all nodes are drained and give nothing away, and soon after all are back."""
    jobs = [quiet(f"-N1 -w {node}", PATIENT) for node in NODES]
    until(lambda: all(map(patient, jobs, NODES)), 180, "all four run")
    with api_down():
        begun = time.monotonic()
        finish(*jobs)
        until(lambda: all(reason(node) for node in NODES), 180, "all drained: nobody can prove them empty")
        waiting = quiet("-N4")
        yield
        until(lambda: time.monotonic() > begun + seconds, seconds, "the time is over")
        assert job_state(waiting) == "PENDING"
        ssh("ctl", f"scancel {waiting}")
    # slurmctld forgets a job five minutes after its end
    booked = f"sacct --noheader --allocations --parsable2 --format=state --jobs={','.join(jobs)}"
    back = time.monotonic()
    until(lambda: all_usable(NODES), WITHIN_S, "all nodes back, without a person")
    print(f"all four usable {time.monotonic() - back:.0f} s after the API server's return")
    until(lambda: ssh("ctl", booked).split() == ["COMPLETED"] * 4, 180, "all four have ended well")


def test_four_jobs_end_while_the_api_server_is_down_for_a_minute() -> None:
    with stack.impatient(NODES), four_jobs_end_without_the_api(60):
        assert all("the API server" in reason(node) for node in NODES)
