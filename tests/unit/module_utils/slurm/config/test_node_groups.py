# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import (
    Mig,
    MigException,
    Range,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.node_groups import (
    job_defaults,
    node_groups,
    node_line,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.slurm_conf import slurm_conf
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Partition

from tests.unit.module_utils.lab import NODES, SLURM
from tests.unit.module_utils.machines import ALL, DESCRIBED, intent

GPUS = NODES.classes["h100"].gpus


def test_ten_thousand_nodes_are_still_one_line() -> None:
    parts = tuple(Range(f"n[{32 * leaf + 1:05}-{32 * leaf + 32:05}]", "h100", f"leaf{leaf}") for leaf in range(313))
    (group,) = node_groups(replace(NODES, ranges=parts), SLURM)
    assert group.nodes == "n[00001-10016]"


SMALL = replace(
    NODES.classes["h100"],
    sockets=1,
    reserved_cpus="0-3",
    memory_mib=131072,
    reserved_memory_mib=2048,
    gpus=replace(GPUS, numa=(0,) * 4),
)
BARE = replace(SMALL, gpus=replace(GPUS, numa=()))


def mixed(**partitions: str) -> dict[str, str]:
    """Partition lines of a site with two nodes of the lab's class, two small ones and one without GPUs."""
    members = {"h100": "gpu[01-02]", "small": "small[1-2]", "cpu": "cpu1"}
    ranges = tuple(Range(names, node_class, "leaf1") for node_class, names in members.items())
    nodes = replace(NODES, classes={**NODES.classes, "small": SMALL, "cpu": BARE}, ranges=ranges)
    slurm = replace(SLURM, partitions=tuple(Partition(name, members) for name, members in partitions.items()))
    found = slurm_conf(slurm, nodes, {}, True).splitlines()
    assert [line for line in found if line.startswith("NodeSet=")] == [
        *("NodeSet=h100 Feature=h100", "NodeSet=small Feature=small", "NodeSet=cpu Feature=cpu"),
    ]
    lines = (line.split() for line in found if line.startswith("PartitionName="))
    return {words[0].partition("=")[2]: " ".join(words[1:]) for words in lines}


def test_whole_classes_are_in_a_partition_by_their_name_and_other_nodes_by_theirs() -> None:
    found = mixed(all="small[1-2],gpu[01-02],cpu1", some="gpu[01-02],small2", one="small1")
    assert found["all"].startswith("Nodes=h100,small,cpu ")
    assert found["some"].startswith("Nodes=h100,small2 ")
    assert found["one"].startswith("Nodes=small1 ")


def test_cpus_and_gpus_bring_their_part_of_the_smallest_node() -> None:
    found = mixed(big="gpu[01-02]", all="small[1-2],gpu[01-02],cpu1", bare="cpu1")
    assert found["big"].endswith("DefMemPerCPU=17100 DefCpuPerGPU=14 DefMemPerGPU=256512")
    assert found["all"].endswith("DefMemPerCPU=2150 DefCpuPerGPU=14 DefMemPerGPU=32256")
    assert found["bare"].endswith("OverSubscribe=NO DefMemPerCPU=2150"), "a node without GPUs has no part of one"


def test_instances_are_resources_of_their_own_beside_whole_gpus() -> None:
    """Each brings its part of the node, whatever its size."""
    gpus = replace(GPUS, mig=Mig({"1g.10gb": 2, "3g.40gb": 1}, (MigException((0, 1)),)))
    nodes = replace(NODES, classes={**NODES.classes, "h100": replace(NODES.classes["h100"], gpus=gpus)})
    conf = slurm_conf(SLURM, nodes, {}, True)
    assert "Gres=gpu:h100:2,gpu:1g.10gb:12,gpu:3g.40gb:6 " in conf
    assert "AccountingStorageTRES=gres/gpu,gres/gpu:1g.10gb,gres/gpu:3g.40gb,gres/gpu:h100" in conf
    assert "DefCpuPerGPU=6 DefMemPerGPU=102604" in conf, "60 cores of two threads for 20"


def test_more_instances_than_cores_have_no_default_of_cpus() -> None:
    gpus = replace(GPUS, mig=Mig({"1g.10gb": 7}))
    small = replace(NODES.classes["h100"], cores_per_socket=16, reserved_cpus="0-3", numa_nodes=2, gpus=gpus)
    (group,) = node_groups(replace(NODES, classes={"h100": small}), SLURM)
    assert "DefCpuPerGPU" not in job_defaults([group])


def test_slurm_counts_cores_where_the_kernel_counts_threads() -> None:
    """The kernel of this machine calls the threads of cores 0, 1, 32 and 33 so."""
    apart = replace(NODES.classes["h100"], cpu_numbering="apart", reserved_cpus="0-1,32-33,64-65,96-97")
    (group,) = node_groups(replace(NODES, classes={"h100": apart}), SLURM)
    assert group.reserved_cpus == [0, 1, 2, 3, 64, 65, 66, 67]
    assert group.cpus == 120


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_nodes_line_has_slurms_own_counts_and_numbers(name: str) -> None:
    site = intent(ALL[name])
    (group,) = node_groups(site.nodes, site.slurm)
    assert ALL[name].slurm.items() <= node_line(group).items()


def test_cores_that_are_cpus_have_defaults_of_their_own() -> None:
    """14 of 16 cores a socket are for jobs, with four GPUs and 248 GiB."""
    site = intent(ALL["cores_that_slurm_counts"], reserved_cpus="0-1,16-17,32-33,48-49")
    (group,) = node_groups(site.nodes, site.slurm)
    assert job_defaults([group]) == {"DefMemPerCPU": 9069, "DefCpuPerGPU": 7, "DefMemPerGPU": 63488}


def test_parameters_of_a_class_count_as_those_of_all() -> None:
    machine = ALL["epyc_nps4_whose_numa_nodes_slurm_counts"]
    site = intent(replace(machine, slurmd=""))
    assert [group.sockets for group in node_groups(site.nodes, site.slurm)] == [2]
    slurm = replace(site.slurm, node_settings={"a": {"Parameters": "numa_node_as_socket"}})
    assert [group.sockets for group in node_groups(site.nodes, slurm)] == [8]
