# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NCCL needs of a host beside the settings of its NICs: a way to GPU memory, and a topology file."""

from __future__ import annotations

from pathlib import Path


def missing(root: str, gpu_direct: bool, topology_file: str) -> dict[str, str]:
    """What the host lacks, and what a person must do. `root` is a prefix of all paths, for tests.

    Without a GPU driver there is nothing that NICs could reach yet.
    """
    found: dict[str, str] = {}
    closed = gpu_direct and _closed(Path(f"{root}/proc/driver/nvidia/version"))
    if closed and not Path(f"{root}/sys/module/nvidia_peermem").exists():
        found["let NICs reach GPU memory"] = (
            "the closed GPU driver has no dma-buf; load nvidia_peermem at each boot, or install the open modules"
        )
    if topology_file and not Path(root + topology_file).is_file():
        found[f"have NCCL's topology file {topology_file}"] = (
            "put it there, or remove nccl_topology_file of the node's class in drawbridge_nodes"
        )
    return found


def _closed(version: Path) -> bool:
    """Whether the GPU driver is loaded, and is not the open one, which uses dma-buf."""
    try:
        return "Open Kernel" not in version.read_text()
    except OSError:
        return False
