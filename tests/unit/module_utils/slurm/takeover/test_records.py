# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import model, records
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.text import lines

NEW = """NodeSet=class-h100 Feature=h100
NodeName=gpu[01-04] Feature=h100 Sockets=2 RealMemory=1000 Gres=gpu:h100:8
PartitionName=train Nodes=class-h100 MaxTime=UNLIMITED PriorityTier=1 AllowAccounts=vision
PartitionName=gated Nodes=gpu01 OverSubscribe=EXCLUSIVE
"""


def of_nodes(old: str) -> list[model.Change]:
    return list(records.nodes(lines(old), lines(NEW)))


def of_partitions(old: str) -> list[model.Change]:
    return [it for it in records.partitions(lines(old), lines(NEW)) if it.old]


def test_nodes_are_compared_one_by_one_whatever_their_lines_are() -> None:
    old = "NodeName=DEFAULT Feature=h100 Sockets=2\nNodeName=gpu01,gpu04\nNodeName=gpu[02-03] State=UNKNOWN\n"
    assert of_nodes(old) == [model.Change(model.KEPT, "NodeName=gpu[01-04]", "NodeName=gpu[01-04]")]


@pytest.mark.parametrize(
    ("attribute", "group", "keep"),
    [
        ("RealMemory=900", model.OURS, ()),
        ("State=DRAIN", model.OURS, ()),
        ("Weight=10", model.DROPPED, ("node_settings", "h100", "Weight")),
        ("Features=h100,rack1", model.DROPPED, ("node_settings", "h100", "Feature")),
        ("NodeAddr=10.0.0.1", model.DROPPED, ()),
    ],
)
def test_what_becomes_of_a_nodes_keys(attribute: str, group: str, keep: tuple[str, ...]) -> None:
    (change,) = [it for it in of_nodes(f"NodeName=gpu01 {attribute}\n") if it.old]
    assert (change.group, change.keep) == (group, keep)
    assert change.note or change.keep


def test_addresses_that_are_lists_belong_to_their_nodes() -> None:
    changes = of_nodes("NodeName=gpu[01-02] NodeAddr=gpu01,10.0.0.2\n")
    assert [it.old for it in changes if it.group == model.DROPPED] == ["NodeName=gpu02 NodeAddr=10.0.0.2"]


def test_nodes_that_the_intent_lacks_vanish_and_new_ones_come() -> None:
    changes = of_nodes("NodeName=old[1-2]\n")
    assert [(it.group, it.old, it.new) for it in changes] == [
        (model.DROPPED, "NodeName=old[1-2]", ""),
        (model.OURS, "", "NodeName=gpu[01-04]"),
    ]


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
        ("MaxTime=1:00", ("partitions", "train", "max_time")),
        ("allowaccounts=speech", ("partitions", "train", "allow_accounts")),
        ("LLN=YES", ("partitions", "train", "settings", "LLN")),
        ("Shared=FORCE", ("partitions", "train", "settings", "OverSubscribe")),
    ],
)
def test_keys_of_a_partition_have_a_key_that_keeps_them(attribute: str, keep: tuple[str, ...]) -> None:
    (change,) = of_partitions(f"PartitionName=train {attribute}\n")
    assert (change.group, change.keep) == (model.DROPPED, keep)


@pytest.mark.parametrize("attribute", ["State=UP", "Hidden=NO", "MaxTime=infinite", "PriorityTier=1"])
def test_what_slurm_takes_anyway_is_not_lost(attribute: str) -> None:
    assert [it.group for it in of_partitions(f"PartitionName=train {attribute}\n")] == [model.KEPT]


def test_a_gated_partition_gives_whole_nodes() -> None:
    (change,) = of_partitions("PartitionName=gated OverSubscribe=FORCE:4\n")
    assert change.group == model.OURS


def test_a_missing_partition_can_be_written_into_the_intent() -> None:
    changes = of_partitions("PartitionName=debug Nodes=gpu01 MaxTime=30 State=UP\n")
    assert [it.keep for it in changes] == [
        ("partitions", "debug"),
        ("partitions", "debug", "nodes"),
        ("partitions", "debug", "max_time"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "group", "note"),
    [
        ("CPUs=32", "CPUs=64 ThreadsPerCore=2", model.DROPPED, "set slurm_cpu: core in"),
        ("Procs=32", "Procs=64 ThreadsPerCore=2", model.DROPPED, "set slurm_cpu: core in"),
        ("CPUs=64", "CPUs=32 ThreadsPerCore=2", model.DROPPED, "set slurm_cpu: thread in"),
        ("CPUs=16", "CPUs=64 ThreadsPerCore=2", model.OURS, "describes the hardware"),
        ("Gres=gpu:TitanXp:4", "Gres=gpu:titanxp:4", model.DROPPED, "write it so in gpus.type of the node class"),
        ("Gres=gpu:TitanXp:4", "Gres=gpu:titan:4", model.OURS, "describes the hardware"),
    ],
)
def test_hardware_with_another_meaning_for_users_needs_consent(old: str, new: str, group: str, note: str) -> None:
    (change,) = records.nodes(lines(f"NodeName=n1 {old}\n"), lines(f"NodeName=n1 Feature=a {new}\n"))
    assert (change.group, note in change.note) == (group, True), change
