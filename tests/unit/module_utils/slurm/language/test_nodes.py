# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.nodes import (
    Members,
    by_node,
    by_partition,
    gres,
)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("gpu:8", {("gpu", ""): 8}),
        ("gpu:h100:8(S:0-1),nvme", {("gpu", "h100"): 8, ("nvme", ""): 1}),
        ("lustre:no_consume:4G", {("lustre", ""): 4 * 1024**3}),
        ("gpu:A100:2,gpu:a100:2,gpu:A100:1", {("gpu", "A100"): 3, ("gpu", "a100"): 2}),
        ("gpu:1g.10gb:7", {("gpu", "1g.10gb"): 7}),
        ("gpu:tesla", {("gpu", "tesla"): 1}),
        ("", {}),
    ],
)
def test_resources_have_names_types_and_counts(text: str, counts: dict[tuple[str, str], int]) -> None:
    assert gres(text) == counts


def test_old_spellings_are_todays_keys() -> None:
    found = by_node(lines("NodeName=a Procs=4 Features=x Sockets=2\n"))["a"]
    assert {key: value for key, (_spelling, value) in found.items()} == {
        "cpus": "4",
        "feature": "x",
        "socketsperboard": "2",
    }


def test_one_priority_of_a_partition_is_two_keys_and_wins() -> None:
    found = by_partition(lines("PartitionName=a PriorityTier=3 Priority=40 Shared=NO\n"))["a"]
    assert found == {
        "prioritytier": ("PriorityTier", "40"),
        "priorityjobfactor": ("PriorityJobFactor", "40"),
        "oversubscribe": ("Shared", "NO"),
    }


def test_keys_that_slurm_ignores_are_no_keys() -> None:
    keys = "AllowQos=x DenyQos=y AllowAccounts=ALL DenyAccounts=z DefMemPerNode=2 DefMemPerCPU=1"
    found = by_partition(lines(f"PartitionName=a Default=YES {keys}\nPartitionName=b Default=YES\n"))
    assert [*found["a"]] == ["allowqos", "allowaccounts", "denyaccounts", "defmempernode"] and "default" in found["b"]


def test_a_partition_has_the_nodes_of_its_sets() -> None:
    found = Members(lines("NodeSet=x Feature=f\nNodeSet=y Nodes=c\nNodeName=a,b Feature=f,g\nNodeName=c Feature=F\n"))
    assert found.of("x,y") == ["a", "b", "c"] and found.of("all") == ["a", "b", "c"] and found.of("c,d") == ["c", "d"]
