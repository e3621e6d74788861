# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from roles.drawbridge_run.files.gate.api import Unreachable
from roles.drawbridge_run.files.run.events import READ_S, StartFailures
from roles.drawbridge_run.files.run.pods import Pod, read
from tests.unit.roles.drawbridge_run.job import Served, event, pod, running, waiting
from tests.unit.roles.slurm_gate.cluster import Cluster

NODES = ("gpu01", "gpu02")
SANDBOX = event("b", "FailedCreatePodSandBox", "no image", 5)
PODS = [pod("a", "gpu01"), waiting("b", "gpu02", "ContainerCreating")]


class Told(Served):
    """Events, and how often somebody asked for them."""

    def __init__(self, *events: dict[str, Any]) -> None:
        super().__init__(Cluster())
        self.events, self.asked, self.down = list(events), 0, False

    def items(self, path: str, **query: str) -> dict[str, Any]:
        self.asked += 1
        if self.down:
            raise Unreachable("down")
        return super().items(path, **query)


def found(*items: dict[str, Any]) -> list[Pod]:
    return [read(item, NODES) for item in items or PODS]


def said(*events: dict[str, Any]) -> str:
    trouble = StartFailures(Told(*events), "vision", 0.0, 180).trouble(found(), READ_S)
    assert trouble is None or not trouble.final
    return trouble.text if trouble else ""


@pytest.mark.parametrize(
    "events",
    [
        [SANDBOX],
        [event("b", "Pulling", at=3, type="Normal"), SANDBOX],
        [SANDBOX, event("b", "DNSConfigForming", at=6)],
        [SANDBOX, event("b", "SandboxChanged", at=6, type="Normal")],
        [event("a", "FailedMount", at=1), event("a", "Pulling", at=2, type="Normal"), SANDBOX],
    ],
)
def test_the_last_step_of_a_pod_has_failed(events: list[dict[str, Any]]) -> None:
    assert said(*events) == "rank 1 on gpu02 does not start (FailedCreatePodSandBox): no image"


@pytest.mark.parametrize(
    "events",
    [
        [],
        [event("b", "Pulling", at=2, type="Normal")],
        [SANDBOX, event("b", "Pulling", at=6, type="Normal")],
        [event("b", "DNSConfigForming", at=6)],
        [event("b", "FailedScheduling", at=6, source={"component": "default-scheduler"})],
        [event("another", "FailedCreatePodSandBox", at=6)],
    ],
)
def test_a_pod_that_takes_its_time_has_no_trouble(events: list[dict[str, Any]]) -> None:
    assert said(*events) == ""


def test_the_first_rank_is_named() -> None:
    assert said(SANDBOX, event("a", "FailedMount", at=9)).startswith("rank 0 on gpu01 does not start (FailedMount)")


def test_kubelets_words_are_asked_for_now_and_then_while_pods_start() -> None:
    kube = Told()
    starts = StartFailures(kube, "vision", 0.0, 180)
    assert starts.trouble(found(), READ_S - 1) is None
    assert starts.trouble(found(running("a", "gpu01"), running("b", "gpu02")), READ_S) is None
    assert kube.asked == 0
    for now in range(int(READ_S), int(3 * READ_S)):
        starts.trouble(found(), float(now))
    assert kube.asked == 2


def test_what_was_told_holds_until_the_pod_has_begun() -> None:
    kube = Told(SANDBOX)
    starts = StartFailures(kube, "vision", 0.0, 5)
    assert starts.trouble(found(), 5.0)
    kube.down = True
    assert starts.trouble(found(), 6.0)
    assert starts.trouble(found(), 10.0), "a silent API server takes nothing back"
    assert starts.trouble(found(PODS[0], running("b", "gpu02")), 11.0) is None
