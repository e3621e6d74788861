# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurm-health on nodes whose GPUs are divided into instances (MIG)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.roles.slurm_node.health_node import Node

INSTANCE = "  MIG {}     Device  {}: (UUID: MIG-3f6f389f-b0cc-5e5c-8e32-eaa8fd06790{})"
"""As the driver's tool prints it below the line of its GPU."""


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def lists(node: Node, *layouts: str) -> None:
    """The driver lists a GPU for each layout, which has names of profiles."""
    lines = []
    for gpu, layout in enumerate(layouts):
        lines.append(f"GPU {gpu}: NVIDIA H100 80GB HBM3 (UUID: GPU-{gpu})")
        lines += [INSTANCE.format(profile, place, place) for place, profile in enumerate(layout.split())]
    node.command("nvidia-smi", "\n".join(f"echo '{line}'" for line in lines))


def divided(node: Node, *layouts: dict[str, int]) -> None:
    listing: dict[str, Any] = {"command": ["nvidia-smi", "--list-gpus"], "line": "GPU "}
    node.look(["/proc"], gpu_list={**listing, "instance": r"\s+MIG (\S+)\s+Device ", "instances": [*layouts]})


def test_a_node_with_its_instances_is_sound(node: Node) -> None:
    divided(node, {}, {"3g.40gb": 1, "1g.10gb": 2})
    lists(node, "", "3g.40gb 1g.10gb 1g.10gb")
    assert node.run("--look") == (0, "")


@pytest.mark.parametrize(
    ("layouts", "finding"),
    [
        (("", "3g.40gb"), "GPU 1 has 1 instances of 3g.40gb instead of 2"),
        (("", ""), "GPU 1 has 0 instances of 3g.40gb instead of 2"),
        (("3g.40gb 3g.40gb", ""), "GPU 0 has 2 instances of 3g.40gb instead of 0; "),
        (("", "3g.40gb 3g.40gb 1g.10gb"), "GPU 1 has 1 instances of 1g.10gb instead of 0"),
        (("3g.40gb 3g.40gb",), "1 GPUs in the driver's list instead of 2"),
    ],
)
def test_lost_and_surplus_instances_are_placed(node: Node, layouts: tuple[str, ...], finding: str) -> None:
    divided(node, {}, {"3g.40gb": 2})
    lists(node, *layouts)
    code, found = node.run("--look")
    assert code == 1 and finding in found


def test_instances_on_a_node_without_them_are_a_finding(node: Node) -> None:
    """A job would get a GPU of which its program sees one instance."""
    lists(node, "3g.40gb 3g.40gb", "")
    assert node.run("--look") == (1, "GPU 0 has 2 instances of 3g.40gb instead of 0")


def test_instances_are_not_sound_because_the_tool_is_missing(node: Node) -> None:
    divided(node, {}, {"3g.40gb": 2})
    (node.root / "bin/nvidia-smi").unlink()
    assert node.run("--look") == (1, "nvidia-smi is not installed, so the instances of GPUs are not known")
