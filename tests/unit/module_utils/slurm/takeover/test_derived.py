# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import derived, model

GPUS = "AutoDetect=off\nNodeName=a[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-15\n"
TREE = "SwitchName=leaf1 Nodes=a[1-2]\nSwitchName=leaf2 Nodes=a[3-4]\nSwitchName=fabric Switches=leaf[1-2]\n"


@pytest.mark.parametrize(
    ("line", "group"),
    [
        ("NodeName=a[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-15", model.KEPT),
        ("NodeName=a[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-1]", model.OURS),
        ("Name=gpu File=/dev/nvidia3 Cores=16-31", model.OURS),
        ("AutoDetect=nvml", model.OURS),
        ("Name=gpu Count=4", model.OURS),
        ("Name=gpu Count=5", model.DROPPED),
        ("Name=gpu Type=H100 File=/dev/nvidia0", model.DROPPED),
        ("Name=gpu Type=a100 File=/dev/nvidia0", model.DROPPED),
        ("Name=gpu File=/dev/nvidia4", model.DROPPED),
        ("NodeName=a[4-5] Name=gpu File=/dev/nvidia0", model.DROPPED),
        ("Name=gpu Type=h100 MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap3", model.DROPPED),
    ],
)
def test_a_line_is_lost_if_a_node_loses_a_device_of_its_type(line: str, group: str) -> None:
    (change,) = [it for it in derived.devices(lines(line), lines(GPUS)) if it.old]
    assert change.group == group and (change.note or group == model.KEPT)


def test_the_note_names_the_nodes_that_lose() -> None:
    (change,) = [it for it in derived.devices(lines("NodeName=a[1-2],b1 Name=gpu Count=4"), lines(GPUS)) if it.old]
    assert "on b1" in change.note


def test_other_resources_can_be_kept_as_lines() -> None:
    (change,) = [it for it in derived.devices(lines("NodeName=a1 Name=nvme Count=2"), lines(GPUS)) if it.old]
    assert (change.group, change.keep, change.value) == (
        *(model.DROPPED, ("gres_lines",)),
        "NodeName=a1 Name=nvme Count=2",
    )


def test_lines_that_only_the_new_file_has_are_listed() -> None:
    assert [it.new for it in derived.devices([], lines(GPUS))] == [str(it) for it in lines(GPUS)]


def test_units_of_the_same_nodes_are_kept_whatever_their_names_are() -> None:
    old = "SwitchName=leaf1 Nodes=a1,a2\nSwitchName=old Nodes=a[3-4]\nSwitchName=top Switches=leaf1,old\n"
    assert [it.group for it in derived.units(lines(old), lines(TREE))] == [model.KEPT, model.OURS, model.OURS]


def test_levels_and_units_that_vanish_are_lost() -> None:
    old = f"{TREE}SwitchName=pod Switches=leaf1 Nodes=a3\nSwitchName=one Nodes=a1\n"
    lost = [it for it in derived.units(lines(old), lines(TREE)) if it.group == model.DROPPED]
    assert [it.old for it in lost] == ["SwitchName=pod Switches=leaf1 Nodes=a3", "SwitchName=one Nodes=a1"]


def test_sizes_of_blocks_are_compared() -> None:
    new = "BlockName=b1 Nodes=a[1-2]\nBlockSizes=2\n"
    old = "BlockName=b1 Nodes=a[1-2]\nBlockSizes=2,4\n"
    assert [it.group for it in derived.units(lines(new), lines(new))] == [model.KEPT, model.KEPT]
    assert [it.group for it in derived.units(lines(old), lines(new))] == [model.KEPT, model.DROPPED]
