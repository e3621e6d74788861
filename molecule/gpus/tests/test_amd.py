# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node with eight MI300X, of which the kernel's files are the lab's. The tests build on each other."""

from __future__ import annotations

import re

import pytest

from lab.hosts.paths import Paths
from tests.running import Lab
from tests.waiting import until

NODE = "amd01"
COMPUTE = "/sys/bus/pci/devices/0000:{:02x}:00.0/current_compute_partition"
LIMIT = ("--limit", f"ctl,{NODE}")
LONG_S = 600


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of(), ("molecule/gpus/inventory",))


def node(lab: Lab) -> str:
    return lab.ssh("ctl", f"scontrol --oneliner show node {NODE}")


def is_idle(lab: Lab) -> bool:
    return " State=IDLE " in node(lab)


def healed(lab: Lab) -> None:
    """Wait until the node has no finding, and its drain is lifted."""
    until(lambda: is_idle(lab), LONG_S, "the health check sees that it is over")


def test_each_job_has_one_gpu_and_its_variable_alone(lab: Lab) -> None:
    assert re.search(r" Gres=gpu:mi300x:8\S* ", node(lab)) and is_idle(lab)
    words = "sbatch --parsable -p share --gres=gpu:mi300x:1 --chdir=/tmp --output=/tmp/%j.out"
    script = "#!/bin/sh\nenv | grep -E '_VISIBLE_DEVICES|_DEVICE_ORDINAL'\nexec sleep infinity\n"
    jobs = [lab.ssh("login1", f"runuser -u ada -- {words}", stdin=script).strip() for _gpu in range(8)]
    outputs = " ".join(f"/tmp/{job}.out" for job in jobs)
    read = f"cat {outputs} 2>/dev/null || true"
    lines = until(lambda: len(found := lab.ssh(NODE, read).split()) == 8 and found, LONG_S, "all run")
    assert sorted(lines) == [f"ROCR_VISIBLE_DEVICES={gpu}" for gpu in range(8)]
    assert len(lab.ssh(NODE, "ls /run/exporter").split()) == 8, "the exporter knows the job of each GPU"
    lab.ssh("ctl", f"scancel {' '.join(jobs)}")
    until(lambda: not lab.ssh("ctl", "squeue --noheader"), LONG_S, "no job is left")


@pytest.mark.parametrize(
    ("plant", "repair", "finding"),
    [
        (
            "mv /dev/dri/renderD136 /dev/dri/gone",
            "mv /dev/dri/gone /dev/dri/renderD136",
            "no GPU at /dev/dri/renderD136",
        ),
        (
            "mount -t tmpfs none /sys/class/kfd",
            "umount /sys/class/kfd",
            "0 GPUs in the kernel's list instead of 8",
        ),
    ],
    ids=["render node", "kfd"],
)
def test_lost_gpus_drain_the_node_until_they_are_back(lab: Lab, plant: str, repair: str, finding: str) -> None:
    lab.ssh(NODE, plant)
    until(lambda: "DRAIN" in node(lab), LONG_S, "the health check has seen it")
    assert finding in node(lab)
    run = lab.playbook("slurm", *LIMIT)
    assert run.code != 0, "the run stops at the hardware"
    lab.ssh(NODE, repair)
    assert lab.playbook("slurm", *LIMIT).code == 0
    healed(lab)


def test_another_partition_mode_is_found_and_set_again(lab: Lab) -> None:
    """The lab's files of the kernel can't be written. In the place of one is a file that can."""
    place = COMPUTE.format(5)
    lab.ssh(NODE, f"echo CPX > /run/mode; mount --bind /run/mode {place}")
    until(lambda: "DRAIN" in node(lab), LONG_S, "the health check has seen it")
    assert "current_compute_partition is CPX instead of SPX on 1 GPUs" in node(lab)
    run = lab.playbook("slurm", *LIMIT)
    assert run.code == 0, run.output
    done = [step for (_task, host), steps in run.steps().items() if host == NODE for step in steps]
    assert "set the compute partition of 8 GPUs to SPX (it is CPX)" in done
    assert lab.ssh(NODE, f"cat {place}") == "SPX\n"
    healed(lab)
    lab.ssh(NODE, f"umount {place}")
