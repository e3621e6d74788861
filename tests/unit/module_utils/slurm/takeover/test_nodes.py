# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import model, nodes

NEW = """NodeSet=class-h100 Feature=h100
NodeName=gpu[01-04] Feature=h100 Sockets=2 RealMemory=1000 Gres=gpu:h100:8
PartitionName=train Nodes=class-h100 MaxTime=UNLIMITED PriorityTier=1 AllowAccounts=vision
PartitionName=gated Nodes=gpu01 OverSubscribe=EXCLUSIVE
"""


def of_nodes(old: str) -> list[model.Change]:
    return list(nodes.nodes(lines(old), lines(NEW)))


def test_nodes_are_compared_one_by_one_whatever_their_lines_are() -> None:
    old = "NodeName=DEFAULT Feature=h100 Sockets=2\nNodeName=gpu01,gpu04\nNodeName=gpu[02-03] State=UNKNOWN\n"
    kept, added = of_nodes(old)
    assert kept == model.Change(model.KEPT, "NodeName=gpu[01-04]", "NodeName=gpu[01-04]")
    assert (added.group, added.new) == (model.OURS, "NodeName=gpu[01-04] RealMemory=1000 Gres=gpu:h100:8")


@pytest.mark.parametrize(
    ("attribute", "group", "keep"),
    [
        ("RealMemory=900", model.OURS, ()),
        ("State=DRAIN", model.OURS, ()),
        ("State=CLOUD", model.DROPPED, ()),
        ("Weight=1", model.KEPT, ()),
        ("Gres=gpu:h100:8(S:0-1)", model.KEPT, ()),
        ("Gres=gpu:8", model.OURS, ()),
        ("Gres=gpu:H100:8", model.DROPPED, ()),
        ("Gres=gpu:h100:9", model.DROPPED, ()),
        ("Gres=gpu:h100:8,nvme:2", model.DROPPED, ("node_settings", "h100", "Gres")),
        ("Weight=10", model.DROPPED, ("node_settings", "h100", "Weight")),
        ("Features=h100,rack1", model.DROPPED, ("node_settings", "h100", "Feature")),
        ("NodeAddr=10.0.0.1", model.DROPPED, ()),
    ],
)
def test_what_becomes_of_a_nodes_keys(attribute: str, group: str, keep: tuple[str, ...]) -> None:
    (change,) = [it for it in of_nodes(f"NodeName=gpu01 {attribute}\n") if it.old]
    assert (change.group, change.keep) == (group, keep)
    assert change.note or change.keep or group == model.KEPT


def test_addresses_that_are_lists_belong_to_their_nodes() -> None:
    changes = of_nodes("NodeName=gpu[01-02] NodeAddr=gpu01,10.0.0.2\n")
    assert [it.old for it in changes if it.group == model.DROPPED] == ["NodeName=gpu02 NodeAddr=10.0.0.2"]


def test_nodes_that_the_intent_lacks_vanish_and_new_ones_come() -> None:
    changes = of_nodes("NodeName=old[1-2]\n")
    assert [(it.group, it.old, it.new) for it in changes] == [
        (model.DROPPED, "NodeName=old[1-2]", ""),
        (model.OURS, "", "NodeName=gpu[01-04]"),
    ]


def test_a_node_loses_the_weight_that_slurm_would_take_without_a_line() -> None:
    new = NEW.replace("Sockets=2", "Sockets=2 Weight=500")
    (lost,) = [it for it in nodes.nodes(lines("NodeName=gpu01 Weight=1\n"), lines(new)) if it.old]
    assert (lost.group, lost.new) == (model.DROPPED, "NodeName=gpu01 Weight=500")


@pytest.mark.parametrize(
    ("old", "new", "group", "note"),
    [
        ("CPUs=32", "CPUs=64 ThreadsPerCore=2", model.DROPPED, "set slurm_cpu: core in"),
        ("Procs=32", "CPUs=64 ThreadsPerCore=2", model.DROPPED, "set slurm_cpu: core in"),
        ("CPUs=64", "CPUs=32 ThreadsPerCore=2", model.DROPPED, "set slurm_cpu: thread in"),
        ("CPUs=16", "CPUs=64 ThreadsPerCore=2", model.OURS, "describes the hardware"),
        ("CPUs=64", "CPUs=64 ThreadsPerCore=1", model.KEPT, ""),
    ],
)
def test_cpus_that_were_cores_are_no_matter_of_hardware(old: str, new: str, group: str, note: str) -> None:
    changes = nodes.nodes(lines(f"NodeName=n1 {old}\n"), lines(f"NodeName=n1 Feature=a {new}\n"))
    (change,) = [it for it in changes if it.old]
    assert (change.group, note in change.note) == (group, True), change
