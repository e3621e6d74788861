# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Twenty seeds of jobs and faults over each other, and a race, judged by what the API server and Slurm wrote down.

On demand, as tests/long_gate.py is: about ten minutes on a quiet machine.
"""

from __future__ import annotations

import pytest

from tests.schedules.plan import CI_SEEDS, plan_of
from tests.schedules.play import Stage, judged, summary, told
from tests.schedules.race import race

RACES = 20

pytestmark = pytest.mark.usefixtures("usable_before")


def test_twenty_schedules() -> None:
    plans, stage = [plan_of(seed) for seed in CI_SEEDS], Stage()
    history = stage.play_all(plans)
    print("\n".join(told(plans, stage.diary, history)))
    print(summary(history))
    assert judged(plans, stage.diary, history) == []
    # a quarter of the moments may go by unseen on a busy machine; more would be a test of nothing
    assert sum(stage.diary.reached.values()) >= 0.75 * len(stage.diary.reached)


@pytest.mark.usefixtures("impatient")
def test_a_pod_that_is_bound_to_a_node_which_its_job_has_left_never_runs() -> None:
    outcome = race(RACES)
    print(outcome)
    assert outcome.wrong == []
    assert outcome.late > 0, "no pod was bound late, so nothing was seen"
