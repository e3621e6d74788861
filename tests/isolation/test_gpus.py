# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs open their own AMD GPUs and instances alone, and tasks get the GPUs of their own socket; the kernel says so."""

from __future__ import annotations

import json

import pytest

from lab.emulators.nvml import state
from tests.isolation.node import PATIENCE_S, PROBE, Facts, here, job, probed, slurm, srun
from tests.waiting import until

pytestmark = pytest.mark.live
AMD, SLICES = "amd01", "slice01"
RENDER_NODES = ["/dev/dri/renderD128", "/dev/dri/renderD136"]
ON_AMD, ON_SLICES = "--partition=accel --mem=200M", "--partition=slices --mem=200M"
OPEN = "head -c0 {} 2>&1 || true"
"""No driver stands behind these files, so who may open one hears that it is missing."""


@pytest.mark.parametrize("node", [AMD, SLICES])
def test_nodes_are_idle(node: str) -> None:
    until(lambda: slurm(f"sinfo --noheader --nodes={node} --format=%T") == "idle", PATIENCE_S, f"{node} is idle")


def test_a_job_opens_its_own_amd_gpus_alone() -> None:
    one_gpu = f"{ON_AMD} --gres=gpu:mi300x:1"
    with job(one_gpu, node=AMD) as (_, one), job(one_gpu, node=AMD) as (_, other):
        assert sorted([*one["gpus"], *other["gpus"]]) == RENDER_NODES
        assert len(one["gpus"]) == 1
        assert one["kfd"] and other["kfd"], "one device of all GPUs, which asks the control group for each render node"
    assert probed(f"{ON_AMD} --gres=gpu:mi300x:2")["gpus"] == RENDER_NODES


def test_a_job_without_amd_gpus_opens_none() -> None:
    assert "No such device" in here(OPEN.format(RENDER_NODES[0]), node=AMD)
    found = probed(ON_AMD)
    assert (found["gpus"], found["visible"]) == ([], "")


def test_each_task_gets_the_gpu_of_its_own_socket() -> None:
    said = srun(f"{ON_AMD} --ntasks=2 --gres=gpu:mi300x:2 --gpu-bind=closest", PROBE)
    tasks = [Facts(json.loads(line)) for line in said.splitlines()]
    near = {1: RENDER_NODES[0], 3: RENDER_NODES[1]}
    assert sorted(cpu for task in tasks for cpu in task["given"]) == [*near]
    for task in tasks:
        assert usable(task) == [near[cpu] for cpu in task["given"]]


def usable(task: Facts) -> list[str]:
    """The GPUs that the runtime shows to a task: those of its variable, among those that it may open."""
    return [task["gpus"][int(index)] for index in task["visible"].split(",")]


def test_a_job_opens_its_own_instances_alone() -> None:
    half, whole = f"{ON_SLICES} --gres=gpu:3g.40gb:1", f"{ON_SLICES} --gres=gpu:h100:1"
    with (
        job(half, node=SLICES) as (_, one),
        job(half, node=SLICES) as (_, other),
        job(whole, node=SLICES) as (_, third),
    ):
        assert one["visible"] != other["visible"]
        assert set(one["gpus"]) == files(one["visible"])
        assert set(other["gpus"]) == files(other["visible"])
        assert third["gpus"] == ["/dev/nvidia1"]


def test_a_job_without_instances_opens_none() -> None:
    assert "No such device" in here(OPEN.format("/dev/nvidia0"), node=SLICES)
    assert probed(ON_SLICES)["gpus"] == []


def files(uuid: str) -> set[str]:
    """Device files of an instance, by the driver's own table of their numbers."""
    found = state.parsed(here(f"cat {state.PATH}", node=SLICES))
    it = next(it for it in found.computes if it.uuid == uuid)
    table = dict(line.split() for line in here("cat /proc/driver/nvidia-caps/mig-minors", node=SLICES).splitlines())
    names = (f"gpu{it.gpu}/gi{it.instance}/access", f"gpu{it.gpu}/gi{it.instance}/ci{it.id}/access")
    return {f"/dev/nvidia{it.gpu}", *(f"/dev/nvidia-caps/nvidia-cap{table[name]}" for name in names)}
