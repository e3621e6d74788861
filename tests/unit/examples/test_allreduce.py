# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the pods of examples/allreduce.sbatch request, by the variables that the gate gives a job."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from tests.conformance.tree import ROOT

GATE = {
    "DRAWBRIDGE_POD_GPUS": "8",
    "DRAWBRIDGE_POD_CPUS": "120",
    "DRAWBRIDGE_POD_MEMORY": "2052096Mi",
    "DRAWBRIDGE_SERVICE_ACCOUNT": "slurm-7-u1001-g1001",
    "DRAWBRIDGE_GROUPS": "3011,3012",
    "DRAWBRIDGE_TOLERATION": "job-7",
}


def requested(monkeypatch: pytest.MonkeyPatch, **gate: str) -> dict[str, str]:
    """The GPUs that a pod of a job with these variables requests; its other resources are the same."""
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setattr("subprocess.check_output", lambda *_argv, **_more: "gpu01\ngpu02\n")
    monkeypatch.setattr("socket.gethostbyname", lambda name: f"10.0.0.{name[-1]}")
    example = runpy.run_path(str(ROOT / "examples/allreduce.sbatch"))
    workload: dict[str, Any] = example["workload"]({**GATE, **gate}, "some")
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    resources = container["resources"]["requests"]
    assert container["resources"]["limits"] == resources
    rest = {name: resources[name] for name in ("cpu", "memory")}
    assert rest == {"cpu": "120", "memory": "2052096Mi"}
    return {name: count for name, count in resources.items() if name not in rest}


def test_a_pod_requests_all_gpus_of_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    assert requested(monkeypatch) == {"nvidia.com/gpu": "8"}
    assert requested(monkeypatch, DRAWBRIDGE_POD_GPUS="0") == {}, "a node without GPUs"


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ("amd.com/gpu=8", {"amd.com/gpu": "8"}),
        ("nvidia.com/mig-3g.40gb=12,nvidia.com/gpu=2", {"nvidia.com/mig-3g.40gb": "12", "nvidia.com/gpu": "2"}),
    ],
)
def test_other_gpus_and_instances_are_requested_by_their_names(
    monkeypatch: pytest.MonkeyPatch, named: str, wanted: dict[str, str]
) -> None:
    assert requested(monkeypatch, DRAWBRIDGE_POD_RESOURCES=named) == wanted
