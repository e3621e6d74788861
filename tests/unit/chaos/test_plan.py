# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

import pytest

from tests.chaos.inventory import HOSTS
from tests.chaos.lab import Broken, moment, tasks
from tests.chaos.plan import ALL_SEEDS, BARE, CI_SEEDS, DRIFTS, Kill, plan_of

LISTED = """
playbook: playbooks/site.yml

  play #1 (nodes): Carry GPU traffic\tTAGS: []
    tasks:
      drawbridge.drawbridge.fabric_nic : Validating arguments against arg spec 'main' - Carry\tTAGS: [always]
      drawbridge.drawbridge.fabric_nic : Shape the ports\tTAGS: []

  play #2 (login): Let people submit jobs\tTAGS: []
    tasks:
      drawbridge.drawbridge.slurm_login : Install\tTAGS: []

  play #3 (nodes): Run Slurm's nodes\tTAGS: []
    tasks:
      drawbridge.drawbridge.slurm_node : Install\tTAGS: []
      drawbridge.drawbridge.slurm_node : Prove\tTAGS: []
"""


def test_a_seed_is_one_case_for_ever() -> None:
    assert [plan_of(seed) for seed in ALL_SEEDS] == [plan_of(seed) for seed in ALL_SEEDS]
    assert [str(plan_of(seed)) for seed in CI_SEEDS] == CI_CASES


CI_CASES = [
    "seed 1: bare hosts; site killed 4058 ms into 26% of all tasks",
    "seed 36: drifts switch, slurmd; fabric, slurm while eos ^interface Ethernet dies on leaf1",
    "seed 83: drifts mount, gate, gate service; storage, gate while systemctl daemon-reload dies on gpu01",
]


def test_the_seeds_reach_every_drift_host_and_way_to_end() -> None:
    plans = [plan_of(seed) for seed in ALL_SEEDS]
    assert {name for plan in plans for name in plan.drifts} == set(DRIFTS)
    ways = Counter(
        "death" if plan.death else "power" if plan.kill and plan.kill.powerless else "kill" for plan in plans
    )
    assert min(ways[way] for way in ("death", "power", "kill")) >= 15
    assert 5 <= sum(plan.start == BARE for plan in plans) <= 30
    assert all((plan.death is None) != (plan.kill is None) for plan in plans)


def test_only_tools_die_that_the_run_uses() -> None:
    for plan in map(plan_of, ALL_SEEDS):
        if plan.death and plan.drifts:
            assert plan.death in [verb for name in plan.drifts for verb in DRIFTS[name].verbs]


def test_everything_happens_on_hosts_that_are_booted() -> None:
    plans = [plan_of(seed) for seed in ALL_SEEDS]
    assert {drift.host for drift in DRIFTS.values()} <= set(HOSTS)
    assert {plan.kill.powerless for plan in plans if plan.kill} <= {"", *HOSTS}
    assert {plan.death.host for plan in plans if plan.death} <= set(HOSTS)


def test_tasks_of_plays_without_hosts_are_no_places() -> None:
    assert [role for role, _ in tasks(LISTED)] == ["fabric_nic", "fabric_nic", "slurm_node", "slurm_node"]


@pytest.mark.parametrize(
    ("role", "share", "number"),
    [("", 0.0, 2), ("", 0.5, 3), ("", 1.0, 4), ("slurm_node", 0.4, 3), ("slurm_node", 0.6, 4), ("fabric_nic", 0.9, 2)],
)
def test_a_place_is_a_task_with_work_of_its_own(role: str, share: float, number: int) -> None:
    assert moment(tasks(LISTED), Kill(role, share, 100)) == (number, 0.1)


@pytest.mark.parametrize(("share", "seconds"), [(0.0, 0.35), (0.5, 0.1), (1.0, 0.1)])
def test_a_run_that_is_nearly_over_is_killed_soon(share: float, seconds: float) -> None:
    assert moment(tasks(LISTED), Kill("", share, 2400))[1] == seconds


def test_a_place_in_a_role_that_is_gone_is_refused() -> None:
    with pytest.raises(Broken, match="no task of the role scale_client"):
        moment(tasks(LISTED), Kill("scale_client", 0.5, 100))
