# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A site with GPU nodes, CPU nodes and NFS, without fabric and GPFS. The tests build on each other in their order."""

from __future__ import annotations

import pytest

from lab.hosts.paths import REPOSITORY, Paths
from tests.running import Lab
from tests.stack import lab as switch
from tests.stack import until

INVENTORY = "molecule/mixed/inventory"
GPUS = 4


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of(), (INVENTORY,))


def batch(lab: Lab, options: str, script: str) -> str:
    """The output of ada's job, which ends well."""
    words = f"sbatch --parsable --wait --chdir=/tmp --output=/tmp/%j.out {options}"
    job = lab.ssh("login1", f"runuser -u ada -- {words}", stdin=script).strip()
    assert lab.booked(job) == ["COMPLETED", "0:0"]
    [first] = lab.ssh("ctl", f"sacct -n -X -j {job} -o NodeList%40 | xargs scontrol show hostnames | head -n1").split()
    return lab.ssh(first, f"cat /tmp/{job}.out")


def test_a_second_run_changes_nothing(lab: Lab) -> None:
    run = lab.playbook("site")
    assert run.code == 0, run.output
    assert (run.changed(), run.steps()) == ([], {})


@pytest.mark.parametrize("node", ["cpu01", "cpu02"])
def test_a_cpu_node_has_nothing_of_kubernetes(lab: Lab, node: str) -> None:
    assert node not in lab.kubectl("get", "nodes", "-o", "name")
    assert lab.ssh(node, "ls /usr/bin/kubelet /etc/drawbridge/gate 2>/dev/null || true") == ""
    assert "Gres=(null)" in lab.ssh("ctl", f"scontrol show node {node}")


def test_a_gpu_node_is_a_closed_member(lab: Lab) -> None:
    taints = lab.kubectl("get", "node", "gpu01", "-o", "jsonpath={.spec.taints[*].value}")
    assert taints.split() == ["closed"]
    assert f"Gres=gpu:l40s:{GPUS}" in lab.ssh("ctl", "scontrol show node gpu01")


def test_a_job_runs_on_cpu_nodes(lab: Lab) -> None:
    assert sorted(batch(lab, "-p prepare -N2", "#!/bin/sh\nsrun hostname -s\n").split()) == ["cpu01", "cpu02"]


def test_a_job_borrows_gpu_nodes_through_the_gate(lab: Lab) -> None:
    told = batch(lab, f"--gres=gpu:l40s:{GPUS}", (REPOSITORY / "examples/allreduce.sbatch").read_text())
    ranks = [line for line in told.splitlines() if line.startswith("rank ")]
    assert len(ranks) == 2
    assert all(f"with {GPUS} GPUs: sum 3.0, expected 3.0" in line for line in ranks)


def test_a_job_reads_what_another_node_wrote_on_nfs(lab: Lab) -> None:
    lab.ssh("gpu01", "runuser -u ada -- sh -c 'echo lowered > /nfs/data/home/ada/bridge'")
    assert batch(lab, "-p prepare", "#!/bin/sh\ncat /nfs/data/home/ada/bridge\n").strip() == "lowered"


def test_after_a_power_cut_nfs_is_mounted_before_slurmd_starts(lab: Lab) -> None:
    lab.ssh("cpu01", "sync")
    switch("power-cut", "cpu01")
    switch("up", "cpu01")
    until(lambda: "active" in lab.ssh("cpu01", "systemctl is-active slurmd || true").split(), 120, "slurmd runs")
    units = "drawbridge-nfs.service nfs-data.mount"
    assert lab.ssh("cpu01", f"systemctl is-active {units}").split() == ["active", "active"]
    shown = lab.ssh("cpu01", "systemctl show --value -p ActiveEnterTimestampMonotonic drawbridge-nfs.service").strip()
    started = lab.ssh("cpu01", "systemctl show --value -p ExecMainStartTimestampMonotonic slurmd").strip()
    assert int(shown) < int(started)
    assert "nfs" in lab.ssh("cpu01", "nfsstat -m")
