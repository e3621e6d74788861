# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Ends of jobs race with the scheduler, judged by what the API server has in its log; long_gate.py runs 200."""

from __future__ import annotations

import pytest

from tests.schedules.race import race

RACES = 20

pytestmark = pytest.mark.usefixtures("impatient", "usable_before")


def test_a_pod_that_is_bound_to_a_node_which_its_job_has_left_never_runs() -> None:
    """Whether a pod is bound late is up to the machine: races are run until one was, three times twenty at most."""
    late = 0
    for seed in range(1, 4):
        outcome = race(RACES, seed)
        print(outcome)
        assert outcome.wrong == []
        late += outcome.late
        if late:
            break
    assert late, "no pod was bound late, so nothing was seen"
