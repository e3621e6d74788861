# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roles.drawbridge_run.files.run.kinds import KINDS
from tests.unit.roles.drawbridge_run.job import NAME, request


def made(root: Path, kind: str) -> list[dict[str, Any]]:
    return KINDS[kind].make(request(root))


def pods(value: Any) -> Iterator[dict[str, Any]]:
    """Templates of pods, wherever a kind keeps them."""
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}):
            yield value
        for inner in value.values():
            yield from pods(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pods(inner)


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_are_labelled_and_named_for_the_gate(tmp_path: Path, kind: str) -> None:
    items = made(tmp_path, kind)
    for part in (*items, *pods(items)):
        assert part["metadata"]["labels"]["drawbridge.io/slurm-job"] == "4711"
    assert {item["metadata"]["name"] for item in items} == {NAME}


@pytest.mark.parametrize(("kind", "container"), [("job", "main"), ("trainjob", "node"), ("pytorchjob", "pytorch")])
def test_all_kinds_make_the_same_pod(tmp_path: Path, kind: str, container: str) -> None:
    """Under the name that the kind wants its container to have."""
    (pod,), (reference,) = list(pods(made(tmp_path, kind))), list(pods(made(tmp_path, "job")))
    assert pod["spec"]["containers"][0].pop("name") == container
    reference["spec"]["containers"][0].pop("name")
    assert pod == reference


def test_one_pod_a_node_and_no_second_try(tmp_path: Path) -> None:
    (job,) = made(tmp_path, "job")
    assert [job["spec"][key] for key in ("completions", "parallelism", "backoffLimit")] == [2, 2, 0]
    runtime, train_job = made(tmp_path, "trainjob")
    assert runtime["spec"]["mlPolicy"]["numNodes"] == train_job["spec"]["trainer"]["numNodes"] == 2
    assert runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["backoffLimit"] == 0
    (pytorch_job,) = made(tmp_path, "pytorchjob")
    assert pytorch_job["spec"]["runPolicy"]["backoffLimit"] == 0
    assert {kind: it["replicas"] for kind, it in pytorch_job["spec"]["pytorchReplicaSpecs"].items()} == {"Worker": 2}
