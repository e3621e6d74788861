# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurm-health on nodes with GPUs that the kernel lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.module_utils.nodes.gpus import kfd
from tests.unit.roles.slurm_node.health_node import Node


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


LISTED = "sys/class/kfd/kfd/topology/nodes/*/properties"


def of_kernel(node: Node, root: Path) -> None:
    """The node has eight GPUs that the kernel lists."""
    # the program reads a path that begins at the root of the host
    listing = {"files": str(root / LISTED), "line": "drm_render_minor [1-9]", "numbers": [*kfd.MINORS]}
    node.look(["/proc"], gpus=8, gpu_files=str(root / "dev/dri/renderD"), gpu_list=listing)


def test_gpus_of_the_kernels_list_need_no_tool(node: Node, tmp_path: Path) -> None:
    root = kfd.host(tmp_path / "host")
    of_kernel(node, root)
    node.command("amd-smi", "exit 255")
    assert node.run("--look") == (0, "")


@pytest.mark.parametrize(
    ("gone", "finding"),
    [
        ("dev/dri/renderD144", "no GPU at {}/dev/dri/renderD144"),
        ("sys/class/kfd/kfd/topology/nodes/4/properties", "7 GPUs in the kernel's list instead of 8"),
    ],
)
def test_a_gpu_that_the_kernel_lost_is_a_finding(node: Node, tmp_path: Path, gone: str, finding: str) -> None:
    root = kfd.host(tmp_path / "host")
    of_kernel(node, root)
    (root / gone).unlink()
    assert node.run("--look") == (1, finding.format(root))


def test_a_gpu_with_another_number_is_a_finding(node: Node, tmp_path: Path) -> None:
    root = kfd.host(tmp_path / "host", (*kfd.MINORS[:-1], 192))
    of_kernel(node, root)
    assert node.run("--look") == (1, f"no GPU at {root}/dev/dri/renderD184")


@pytest.mark.parametrize(("mode", "seen"), [("CPX", "CPX"), ("", "unknown")])
def test_another_partition_mode_is_a_finding(node: Node, tmp_path: Path, mode: str, seen: str) -> None:
    root = kfd.host(tmp_path / "host")
    place = "sys/class/drm/renderD*/device/current_compute_partition"
    listing = {"files": str(root / LISTED), "line": "drm_render_minor [1-9]", "numbers": [*kfd.MINORS]}
    more = {"gpu_files": str(root / "dev/dri/renderD"), "gpu_list": {**listing, "modes": {str(root / place): "SPX"}}}
    node.look(["/proc"], gpus=8, **more)
    assert node.run("--look") == (0, "")
    (root / "sys/class/drm/renderD144/device/current_compute_partition").write_text(f"{mode}\n")
    assert node.run("--look") == (1, f"current_compute_partition is {seen} instead of SPX on 1 GPUs")


def test_without_its_kernel_module_no_gpu_is_there(node: Node, tmp_path: Path) -> None:
    of_kernel(node, tmp_path)
    assert node.run("--look") == (1, "0 GPUs in the kernel's list instead of 8")
