# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from roles.drawbridge_run.files.run.pod_set import PodSet
from roles.drawbridge_run.files.run.pods import read, trouble
from tests.unit.roles.drawbridge_run.job import ended, pod, running, waiting

NODES = ("gpu01", "gpu02")
TAINTED = "0/5 nodes are available: 4 node(s) had untolerated taint"
NO_IMAGE = 'failed to resolve reference "docker.io/lab/none:1": docker.io/lab/none:1: not found'


@pytest.mark.parametrize(
    ("item", "text", "code", "final"),
    [
        (ended("a", "gpu02", 1), "rank 1 on gpu02 ended with exit code 1", 1, True),
        (ended("a", "gpu01", 143), "rank 0 on gpu01 ended by SIGTERM (exit code 143)", 143, True),
        (ended("a", "gpu01", 250), "rank 0 on gpu01 ended by signal 122 (exit code 250)", 250, True),
        (
            ended("a", "gpu01", 137),
            "was killed (exit code 137): by a user or an administrator, or its node ran out of memory",
            137,
            True,
        ),
        (
            ended("a", "gpu01", 137, reason="OOMKilled"),
            "used more memory than a pod has (9Gi) and was killed",
            137,
            True,
        ),
        (
            ended(
                "a",
                "gpu01",
                128,
                reason="StartError",
                message='exec: "/bin/sh": stat /bin/sh: no such file or directory',
            ),
            "could not begin: exec",
            127,
            True,
        ),
        (
            ended("a", "gpu01", 128, reason="StartError", message="permission denied"),
            "could not begin: perm",
            126,
            True,
        ),
        (
            pod("a", "gpu01", phase="Failed", reason="NodeAffinity", message="Predicate NodeAffinity failed"),
            "rank 0 on gpu01 was refused by its node (NodeAffinity): Predicate NodeAffinity failed",
            125,
            True,
        ),
        (
            waiting("a", "gpu01", "ErrImagePull", NO_IMAGE),
            "the image can't be pulled on gpu01: failed to resolve",
            125,
            True,
        ),
        (
            waiting("a", "gpu01", "ImagePullBackOff", "dial tcp: i/o timeout"),
            "can't be pulled on gpu01: dial",
            125,
            False,
        ),
        (
            waiting("a", "gpu01", "InvalidImageName", "bad"),
            "rank 0 on gpu01 can't start (InvalidImageName): bad",
            125,
            True,
        ),
        (
            waiting("a", "gpu01", "CreateContainerConfigError", 'secret "x" not found'),
            'can\'t start (CreateContainerConfigError): secret "x" not found',
            125,
            True,
        ),
        (
            pod("a", conditions=[{"type": "PodScheduled", "reason": "Unschedulable", "message": TAINTED}]),
            f"a pod gets none of the job's nodes: {TAINTED}",
            125,
            False,
        ),
        (running("a", "gpu02", "False"), "rank 1 on gpu02 is lost: its node's kubelet does not report", 125, False),
    ],
)
def test_what_is_wrong_is_said(item: dict[str, Any], text: str, code: int, final: bool) -> None:
    found = trouble(read(item, NODES), "9Gi")
    assert found is not None
    assert text in found.text
    assert (found.code, found.final) == (code, final)


@pytest.mark.parametrize(
    "item",
    [
        ended("a", "gpu01"),
        running("a", "gpu01"),
        waiting("a", "gpu01", "ContainerCreating"),
        pod("a", "gpu01"),
        pod("a"),
    ],
)
def test_what_is_well_is_not_talked_about(item: dict[str, Any]) -> None:
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
        # in the same second: who was heard of first
        ([running("a", "gpu01"), ended("b", "gpu02", 3), ended("a", "gpu01", 1)], 1),
        ([running("b", "gpu02"), ended("a", "gpu01", 1), ended("b", "gpu02", 3)], 0),
        # who ended well is nobody's cause
        ([ended("a", "gpu01", 0, "2025-11-21T10:00:01Z"), ended("b", "gpu02", 3)], 1),
    ],
)
def test_the_first_to_fail_is_named(items: list[dict[str, Any]], rank: int) -> None:
    found = pod_set(*items).trouble()
    assert found is not None
    assert found.rank == rank


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


def test_a_pod_that_goes_before_its_end_is_told() -> None:
    made = pod_set(running("a", "gpu01"), running("b", "gpu02"))
    made.lose("b")
    found = made.trouble()
    assert found is not None
    assert (found.text, found.final) == ("rank 1 on gpu02 was deleted by others", True)


def test_what_a_full_list_misses_was_deleted_while_nobody_looked() -> None:
    made = pod_set(running("a", "gpu01"), running("b", "gpu02"))
    assert [lost.name for lost in made.keep(["a"])] == ["b"]
    assert made.trouble() is not None


def test_what_nobody_needs_to_wait_for_comes_first() -> None:
    made = pod_set(
        waiting("a", "gpu01", "ErrImagePull", "i/o timeout"), waiting("b", "gpu02", "ErrImageNeverPull", "no")
    )
    found = made.trouble()
    assert found is not None
    assert found.final


def test_progress_is_one_line() -> None:
    assert pod_set().summary == "2 pods: 2 not made yet"
    made = pod_set(pod("a"), waiting("b", "gpu02", "ContainerCreating"))
    assert made.summary == "2 pods: 1 wait for a node, 1 start"
