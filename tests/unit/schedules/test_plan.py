# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

import pytest

from tests.schedules.plan import (
    ALL_SEEDS,
    CI_SEEDS,
    CONTROLLER,
    FAULTS,
    GATE_KILLED,
    MOMENTS,
    NODES,
    POWER,
    WAYS,
    Plan,
    Trouble,
    plan_of,
)

PLANS = [plan_of(seed) for seed in ALL_SEEDS]
CI = [plan_of(seed) for seed in CI_SEEDS]


def test_a_seed_is_one_schedule_for_ever() -> None:
    assert [plan_of(seed) for seed in ALL_SEEDS] == PLANS
    assert [str(plan_of(seed)) for seed in (9, 92)] == SOME


SOME = [
    "seed 9: cleo stubborn pods on gpu03 for 1 s; the first ends; "
    "a process that is no job's uses a GPU (gpu03) for 8 s 0 ms into close",
    "seed 92: cleo quiet on gpu03 for 1 s; cleo quiet on gpu03 for 2 s; ada quiet on anywhere for 3 s; "
    "the first requeued; the kubelet restarts (gpu03) 1500 ms into end",
]


def test_three_hundred_seeds_reach_every_fault_at_nearly_every_moment() -> None:
    assert {plan.way for plan in PLANS} == set(WAYS)
    met = {(plan.trouble.what, plan.trouble.moment) for plan in PLANS if plan.trouble}
    possible = {(what, moment) for what, fault in FAULTS.items() for moment in fault.moments}
    assert met <= possible
    assert len(met) >= 0.9 * len(possible)
    assert {what for what, _ in met} == set(FAULTS)


def test_ci_shows_each_way_and_moment_and_waits_for_few_requeues() -> None:
    assert len(set(CI_SEEDS)) == len(CI_SEEDS) == 20
    assert set(CI_SEEDS) <= set(ALL_SEEDS)
    assert sum(plan.runs_again for plan in CI) <= 3
    assert {plan.way for plan in CI} == set(WAYS)
    assert {plan.trouble.moment for plan in CI if plan.trouble} == set(MOMENTS)
    assert {plan.trouble.what for plan in CI if plan.trouble} >= set(FAULTS) - {POWER, "slurmdbd stops"}
    works = [work for plan in CI for work in plan.works]
    for true in (
        lambda it: it.tasks > 1,
        lambda it: it.stubborn,
        lambda it: not it.gated,
        lambda it: len(it.nodes) > 1,
    ):
        assert any(map(true, works))
    assert {work.namespace for work in works if work.pods} == {"vision", "speech"}


def test_both_tenants_and_all_nodes_have_their_share() -> None:
    users = Counter(work.user for plan in PLANS for work in plan.works)
    nodes = Counter(node for plan in PLANS for node in plan.first.nodes)
    assert set(nodes) == set(NODES)
    assert min(users.values()) > 100 and min(nodes.values()) > 50


@pytest.mark.parametrize(
    ("trouble", "host", "script"),
    [
        (Trouble(GATE_KILLED, "open", 0, 0, "gpu01"), CONTROLLER, "pkill -KILL -f 'drawbridge/gate [o]pen'"),
        (Trouble(GATE_KILLED, "close", 0, 0, "gpu01"), "gpu01", "pkill -KILL -f 'drawbridge/gate [c]lose'"),
        (Trouble("slurmd restarts", "open", 0, 0, "gpu02"), "gpu02", "systemctl restart slurmd"),
        (
            Trouble("the API server stops", "close", 0, 7, "gpu02"),
            CONTROLLER,
            "systemctl stop kube-apiserver; sleep 7; systemctl start kube-apiserver",
        ),
    ],
)
def test_a_trouble_knows_its_host(trouble: Trouble, host: str, script: str) -> None:
    assert (trouble.host, trouble.script) == (host, script)


def test_a_requeue_is_what_takes_two_minutes() -> None:
    first = CI[0].first
    assert Plan(0, "requeued", (first.__class__(first.user, first.nodes, 1, requeue=True),)).runs_again
    assert not Plan(0, "cancelled", (first,)).runs_again
    assert Plan(0, "ends", (first,), Trouble(GATE_KILLED, "open", 0, 0, "gpu01")).runs_again
    assert not Plan(0, "ends", (first,), Trouble("Slurm reconfigures", "open", 0, 0, "gpu01")).runs_again
