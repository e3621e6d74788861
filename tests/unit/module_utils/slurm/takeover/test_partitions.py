# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import model, partitions

NEW = """NodeSet=class-h100 Feature=h100
NodeName=gpu[01-04] Feature=h100 Sockets=2 RealMemory=1000 Gres=gpu:h100:8
PartitionName=train Nodes=class-h100 MaxTime=UNLIMITED PriorityTier=1 AllowAccounts=vision
PartitionName=gated Nodes=gpu01 OverSubscribe=EXCLUSIVE
"""


def of_partitions(old: str) -> list[model.Change]:
    return [it for it in partitions.partitions(lines(old), lines(NEW)) if it.old]


@pytest.mark.parametrize("written", ["ALL", "class-h100", "gpu[03-04],gpu01,gpu02"])
def test_a_partition_of_the_same_nodes_is_kept(written: str) -> None:
    changes = of_partitions(
        f"NodeSet=class-h100 Nodes=gpu[01-04]\nNodeName=gpu[01-04]\nPartitionName=train Nodes={written}\n"
    )
    assert [it.group for it in changes] == [model.KEPT]


def test_other_nodes_are_the_intents() -> None:
    (change,) = of_partitions("NodeName=gpu[01-04]\nPartitionName=train Nodes=gpu01\n")
    assert (change.group, change.new) == (model.OURS, "PartitionName=train Nodes=gpu[01-04]")


@pytest.mark.parametrize(
    ("attribute", "keep"),
    [
        ("PriorityTier=5", ("partitions", "train", "priority_tier")),
        ("Priority=5", ("partitions", "train", "priority_tier")),
        ("MaxTime=1:00", ("partitions", "train", "max_time")),
        ("allowaccounts=speech", ("partitions", "train", "allow_accounts")),
        ("LLN=YES", ("partitions", "train", "settings", "LLN")),
        ("Shared=FORCE", ("partitions", "train", "settings", "OverSubscribe")),
    ],
)
def test_keys_of_a_partition_have_a_key_that_keeps_them(attribute: str, keep: tuple[str, ...]) -> None:
    changes = of_partitions(f"PartitionName=train {attribute}\n")
    assert {it.group for it in changes} == {model.DROPPED} and keep in {it.keep for it in changes}


@pytest.mark.parametrize("attribute", ["State=UP", "Hidden=NO", "MaxTime=infinite", "AllowGroups=ALL"])
def test_what_slurm_takes_anyway_is_not_lost(attribute: str) -> None:
    assert [it.group for it in of_partitions(f"PartitionName=train {attribute}\n")] == [model.KEPT]


def test_a_gated_partition_gives_whole_nodes() -> None:
    (change,) = of_partitions("PartitionName=gated OverSubscribe=FORCE:4\n")
    assert change.group == model.OURS


def test_a_missing_partition_can_be_written_into_the_intent() -> None:
    old = "NodeName=gpu[01-02],gone\nPartitionName=debug Nodes=ALL MaxTime=90:00 State=UP AllowAccounts=All\n"
    assert [(it.keep, it.value) for it in of_partitions(old)] == [
        (("partitions", "debug"), ""),
        (("partitions", "debug", "nodes"), "gpu[01-02]"),
        (("partitions", "debug", "max_time"), "90"),
    ]


def test_a_partition_without_nodes_of_the_intent_says_so() -> None:
    (lost,) = of_partitions("NodeName=gone\nPartitionName=debug Nodes=gone\n")
    assert (lost.group, lost.keep) == (model.DROPPED, ()) and "drawbridge_nodes.ranges" in lost.note


@pytest.mark.parametrize(
    ("attribute", "new"),
    [("MaxTime=UNLIMITED", "MaxTime=60"), ("Hidden=NO", "Hidden=YES"), ("AllowGroups=ALL", "AllowGroups=a")],
)
def test_a_value_that_slurm_takes_anyway_is_lost_where_the_new_line_has_another(attribute: str, new: str) -> None:
    (lost,) = partitions.partitions(lines(f"PartitionName=a {attribute}\n"), lines(f"PartitionName=a {new}\n"))
    assert (lost.group, lost.new) == (model.DROPPED, f"PartitionName=a {new}")


def test_what_only_the_new_line_has_is_listed() -> None:
    found = partitions.partitions(lines("PartitionName=a\n"), lines("PartitionName=a DefMemPerCPU=9 Hidden=NO\n"))
    assert [(it.group, it.new) for it in found if not it.old] == [(model.OURS, "PartitionName=a DefMemPerCPU=9")]


def test_nodes_that_a_partition_loses_can_be_kept() -> None:
    found = of_partitions("NodeName=gpu[01-04]\nPartitionName=gated Nodes=ALL\n")
    assert [(it.keep, it.value) for it in found] == [(("partitions", "gated", "nodes"), "gpu[01-04]")]


@pytest.mark.parametrize(("default", "group"), [("UNLIMITED", model.KEPT), ("NONE", model.KEPT), ("60", model.DROPPED)])
def test_jobs_without_a_time_take_the_longest_anyway(default: str, group: str) -> None:
    assert {it.group for it in of_partitions(f"PartitionName=train DefaultTime={default}\n")} == {group}
