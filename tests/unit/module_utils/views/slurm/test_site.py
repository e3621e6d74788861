# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.intent.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.intent.model import Range
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.views.slurm.site import (
    builds,
    slurm_conf,
)

from tests.unit.intent.test_refused import site

SITE = site("lab")
NODES, SLURM = part("nodes", SITE["drawbridge_nodes"]), part("slurm", SITE["drawbridge_slurm"])
COMPANIONS = {"gres.conf": "AutoDetect=off\n", "topology.conf": "SwitchName=leaf1 Nodes=gpu[01-02]\n"}


def lines(companions: dict[str, str] = COMPANIONS, cgroups: bool = True) -> list[str]:
    return slurm_conf(SLURM, NODES, companions, cgroups).splitlines()


def test_nodes_of_one_class_are_one_line_whatever_their_leaf() -> None:
    assert [line for line in lines() if line.startswith("NodeName=")] == [
        "NodeName=gpu[01-04] CPUs=128 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=2"
        " RealMemory=2052096 Gres=gpu:h100:8"
    ]


def test_ten_thousand_nodes_are_still_one_line() -> None:
    parts = tuple(Range(f"n[{32 * leaf + 1:05}-{32 * leaf + 32:05}]", "h100", f"leaf{leaf}") for leaf in range(313))
    (build,) = builds(replace(NODES, ranges=parts))
    assert build.nodes == "n[00001-10016]"


def test_a_gated_partition_gives_whole_nodes_and_no_other_does() -> None:
    partitions = {line.split()[0]: line for line in lines() if line.startswith("PartitionName=")}
    assert "Default=YES MaxTime=1-00:00:00 OverSubscribe=EXCLUSIVE" in partitions["PartitionName=ai-train"]
    assert "Default=NO MaxTime=UNLIMITED OverSubscribe=NO" in partitions["PartitionName=hpc"]


def test_a_gpu_brings_its_part_of_the_node() -> None:
    assert all("DefCpuPerGPU=16 DefMemPerGPU=256512" in line for line in lines() if line.startswith("PartitionName="))


def test_a_launch_never_waits_in_slurmctlds_memory() -> None:
    assert "PrologFlags=Alloc" in lines()


def test_every_script_is_one_absolute_file() -> None:
    scripts = dict(line.split("=") for line in lines() if line.startswith(("Prolog", "Epilog")))
    for kind in ("Prolog", "Epilog", "PrologSlurmctld", "EpilogSlurmctld"):
        assert scripts[kind].startswith("/usr/local/libexec/drawbridge/slurm-")


def test_a_lost_node_does_not_come_back_by_itself() -> None:
    assert "ReturnToService=0" in lines()


def test_the_hash_of_the_file_speaks_for_its_companions() -> None:
    changed = lines({**COMPANIONS, "gres.conf": "AutoDetect=nvml\n"})
    assert [new for new, old in zip(changed, lines(), strict=True) if new != old] == [changed[1]]
    assert changed[1].startswith("# gres.conf ")


def test_no_key_is_empty_because_slurm_dies_of_it() -> None:
    without_topology = lines({"topology.conf": ""})
    assert not [line for line in without_topology if line.endswith("=") or "= " in line]
    assert not [line for line in without_topology if line.startswith("TopologyPlugin")]


def test_without_cgroups_nothing_asks_for_them() -> None:
    assert not [line for line in lines(cgroups=False) if "/cgroup" in line]
    assert "TaskPlugin=task/cgroup,task/affinity" in lines()
