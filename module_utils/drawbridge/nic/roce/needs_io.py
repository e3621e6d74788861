# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NCCL needs of a host beside the settings of its NICs: a way to GPU memory, and a topology file."""

from __future__ import annotations

from pathlib import Path

from ...nodes.gpus.vendors import VENDORS


def missing(root: str, gpu_direct: bool, topology_file: str) -> dict[str, str]:
    """What the host lacks, and what a person must do. `root` is a prefix of all paths, for tests.

    Without a GPU driver there is nothing that NICs could reach yet.
    """
    found: dict[str, str] = {}
    for module in peer_memory(root) if gpu_direct else ():
        found["let NICs reach GPU memory"] = (
            f"the closed GPU driver has no dma-buf; load {module} at each boot, or install the open modules"
        )
    if topology_file and not Path(root + topology_file).is_file():
        found[f"have NCCL's topology file {topology_file}"] = (
            "put it there, or remove nccl_topology_file of the node's class in drawbridge_nodes"
        )
    return found


def peer_memory(root: str) -> list[str]:
    """Kernel modules that loaded GPU drivers need and that are not loaded."""
    drivers = [(vendor, _text(Path(root + vendor.driver))) for vendor in VENDORS.values()]
    needed = [vendor.peer_memory for vendor, text in drivers if vendor.needs_peer_memory(text)]
    return [module for module in needed if not Path(f"{root}/sys/module/{module}").exists()]


def _text(file: Path) -> str:
    """A file of the driver; "" if it is not loaded."""
    try:
        return file.read_text()
    except OSError:
        return ""
