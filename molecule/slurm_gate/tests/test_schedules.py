# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Twenty seeds of jobs and faults over each other, judged by what the API server and Slurm wrote down.

Six to eight minutes, in which the machine mostly waits; `make schedules` plays all 300 seeds. It prints
which moments nobody met: how many they are depends on the machine. docs/concepts/gate-evidence.md has the last result.
"""

from __future__ import annotations

import pytest

from tests.schedules.plan import CI_SEEDS, plan_of
from tests.schedules.play import Stage, judged, summary, told

pytestmark = pytest.mark.usefixtures("usable_before")


def test_twenty_schedules() -> None:
    plans, stage = [plan_of(seed) for seed in CI_SEEDS], Stage()
    history = stage.play_all(plans)
    print("\n".join(told(plans, stage.diary, history)))
    print(summary(history))
    assert judged(plans, stage.diary, history) == []
