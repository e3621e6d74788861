# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of pods, and what their kubelets say while they start."""

from __future__ import annotations

from typing import Any

import pytest

from roles.drawbridge_run.files.gate.api import Unreachable
from roles.drawbridge_run.files.run.events import READ_S, StartFailures
from roles.drawbridge_run.files.run.pod_set import PodSet
from roles.drawbridge_run.files.run.pods import Pod, read, trouble
from tests.unit.roles.drawbridge_run.job import Served, ended, event, pod, running, waiting
from tests.unit.roles.slurm_gate.cluster import Cluster

NODES = ("gpu01", "gpu02")
TAINTED = "0/5 nodes are available: 4 node(s) had untolerated taint"
NO_IMAGE = 'failed to resolve reference "docker.io/lab/none:1": docker.io/lab/none:1: not found'


KILLED = "was killed (exit code 137): by a user or an administrator, or its node ran out of memory"
NO_SHELL = 'exec: "/bin/sh": stat /bin/sh: no such file or directory'
AFFINITY = "Predicate NodeAffinity failed"
SECRET = 'secret "x" not found'
UNSCHEDULABLE = {"type": "PodScheduled", "reason": "Unschedulable", "message": TAINTED}


@pytest.mark.parametrize(
    ("item", "code", "text"),
    [
        (ended("a", "gpu02", 1), 1, "rank 1 on gpu02 ended with exit code 1"),
        (ended("a", "gpu01", 143), 143, "rank 0 on gpu01 ended by SIGTERM (exit code 143)"),
        (ended("a", "gpu01", 250), 250, "rank 0 on gpu01 ended by signal 122 (exit code 250)"),
        (ended("a", "gpu01", 137), 137, KILLED),
        (ended("a", "gpu01", 137, reason="OOMKilled"), 137, "used more memory than a pod has (9Gi) and was killed"),
        (ended("a", "gpu01", 128, reason="StartError", message=NO_SHELL), 127, "could not begin: exec"),
        (ended("a", "gpu01", 128, reason="StartError", message="permission denied"), 126, "could not begin: perm"),
        (
            pod("a", "gpu01", phase="Failed", reason="NodeAffinity", message=AFFINITY),
            *(125, f"rank 0 on gpu01 was refused by its node (NodeAffinity): {AFFINITY}"),
        ),
        (waiting("a", "gpu01", "ErrImagePull", NO_IMAGE), 125, "the image can't be pulled on gpu01: failed to resolve"),
        (waiting("a", "gpu01", "InvalidImageName", "bad"), 125, "rank 0 on gpu01 can't start (InvalidImageName): bad"),
        (
            waiting("a", "gpu01", "CreateContainerConfigError", SECRET),
            *(125, f"can't start (CreateContainerConfigError): {SECRET}"),
        ),
    ],
)
def test_what_ends_it_is_said_with_its_exit_code(item: dict[str, Any], code: int, text: str) -> None:
    found = trouble(read(item, NODES), "9Gi")
    assert found is not None
    assert text in found.text
    assert (found.code, found.final) == (code, True)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (waiting("a", "gpu01", "ImagePullBackOff", "dial tcp: i/o timeout"), "can't be pulled on gpu01: dial"),
        (pod("a", conditions=[UNSCHEDULABLE]), f"a pod gets none of the job's nodes: {TAINTED}"),
        (running("a", "gpu02", "False"), "rank 1 on gpu02 is lost: its node's kubelet does not report"),
    ],
)
def test_what_may_pass_is_said_too(item: dict[str, Any], text: str) -> None:
    found = trouble(read(item, NODES), "9Gi")
    assert found is not None
    assert text in found.text
    assert (found.code, found.final) == (125, False)


WELL = [ended("a", "gpu01"), running("a", "gpu01"), waiting("a", "gpu01", "ContainerCreating"), pod("a", "gpu01")]


@pytest.mark.parametrize("item", [*WELL, pod("a")])
def test_a_healthy_pod_has_no_trouble(item: dict[str, Any]) -> None:
    assert trouble(read(item, NODES), "9Gi") is None


def pod_set(*items: dict[str, Any]) -> PodSet:
    made = PodSet(NODES, "9Gi")
    for item in items:
        made.note(item)
    return made


@pytest.mark.parametrize(
    ("items", "rank"),
    [
        ([ended("a", "gpu01", 1, "2025-11-21T10:00:05Z"), ended("b", "gpu02", 3, "2025-11-21T10:00:04Z")], 1),
        ([ended("a", "gpu01", 1, "2025-11-21T10:00:05Z"), ended("b", "gpu02", 3, "2025-11-21T10:00:06Z")], 0),
        # in the same second: the pod whose end was seen first
        ([running("a", "gpu01"), ended("b", "gpu02", 3), ended("a", "gpu01", 1)], 1),
        ([running("b", "gpu02"), ended("a", "gpu01", 1), ended("b", "gpu02", 3)], 0),
        # a pod that ended well is not the cause
        ([ended("a", "gpu01", 0, "2025-11-21T10:00:01Z"), ended("b", "gpu02", 3)], 1),
    ],
)
def test_the_first_to_fail_is_named(items: list[dict[str, Any]], rank: int) -> None:
    found = pod_set(*items).trouble()
    assert found is not None and found.rank == rank


def test_all_must_end_well() -> None:
    made = pod_set(ended("a", "gpu01"))
    assert not made.well
    made.note(running("b", "gpu02"))
    assert not made.well
    assert made.running
    made.note(ended("b", "gpu02"))
    assert made.well


def test_an_end_is_an_end() -> None:
    """A pod that has ended may be deleted later, and is then shown once more, perhaps as failed."""
    made = pod_set(ended("a", "gpu01"), ended("b", "gpu02"))
    made.note(pod("a", "gpu01", phase="Failed", reason="Late"))
    made.lose("b")
    assert made.well


def test_a_pod_that_goes_before_its_end_is_reported() -> None:
    made = pod_set(running("a", "gpu01"), running("b", "gpu02"))
    made.lose("b")
    found = made.trouble()
    assert found is not None
    assert (found.text, found.final) == ("rank 1 on gpu02 was deleted by others", True)


def test_a_pod_that_a_full_list_misses_was_deleted_unseen() -> None:
    made = pod_set(running("a", "gpu01"), running("b", "gpu02"))
    assert [lost.name for lost in made.keep(["a"])] == ["b"]
    assert made.trouble() is not None


def test_a_final_failure_comes_before_one_that_may_pass() -> None:
    slow = waiting("a", "gpu01", "ErrImagePull", "i/o timeout")
    found = pod_set(slow, waiting("b", "gpu02", "ErrImageNeverPull", "no")).trouble()
    assert found is not None and found.final


def test_progress_is_one_line() -> None:
    assert pod_set().summary == "2 pods: 2 not made yet"
    made = pod_set(pod("a"), waiting("b", "gpu02", "ContainerCreating"))
    assert made.summary == "2 pods: 1 wait for a node, 1 start"


SANDBOX = event("b", "FailedCreatePodSandBox", "no image", 5)
PODS = [pod("a", "gpu01"), waiting("b", "gpu02", "ContainerCreating")]


class Told(Served):
    """Events, and the number of requests for them."""

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


def test_the_launcher_reads_events_now_and_then_while_pods_start() -> None:
    kube = Told()
    starts = StartFailures(kube, "vision", 0.0, 180)
    assert starts.trouble(found(), READ_S - 1) is None
    assert starts.trouble(found(running("a", "gpu01"), running("b", "gpu02")), READ_S) is None
    assert kube.asked == 0
    for now in range(int(READ_S), int(3 * READ_S)):
        starts.trouble(found(), float(now))
    assert kube.asked == 2


def test_a_reported_trouble_holds_until_the_pod_has_begun() -> None:
    kube = Told(SANDBOX)
    starts = StartFailures(kube, "vision", 0.0, 5)
    assert starts.trouble(found(), 5.0)
    kube.down = True
    assert starts.trouble(found(), 6.0)
    assert starts.trouble(found(), 10.0), "a silent API server takes nothing back"
    assert starts.trouble(found(PODS[0], running("b", "gpu02")), 11.0) is None
