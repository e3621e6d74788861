# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's tree of a host with AMD's GPUs, as files: two CPUs, then GPUs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lab.machine import amd
from lab.machine.amd import PCI, properties

MINORS = tuple(map(amd.minor, range(8)))
"""Of eight MI300X: the driver keeps eight numbers for each."""

BLOCKS = ("umc", "sdma", "gfx", "mmhub", "pcie_bif", "hdp", "xgmi_wafl")
RAS = {**{f"ras/{block}_err_count": "ue: 0\nce: 2\nde: 0" for block in BLOCKS}, "ras/gpu_vram_bad_pages": ""}
"""Files of a GPU without faults. An error that was corrected is none."""


def host(root: Path, minors: Sequence[int] = MINORS, numa: Sequence[int] = (0, 0, 0, 0, 1, 1, 1, 1)) -> Path:
    """Write the tree. Of each GPU, all eight render nodes exist, as the driver makes them in every mode."""
    nodes = root / "sys/class/kfd/kfd/topology/nodes"
    for cpu in range(2):
        (nodes / str(cpu)).mkdir(parents=True)
        (nodes / f"{cpu}/properties").write_text(properties(0))
    (root / "sys/class/kfd/kfd/proc").mkdir()
    (root / "dev/dri").mkdir(parents=True)
    (root / "sys/module/amdgpu").mkdir(parents=True)
    (root / "sys/module/amdgpu/initstate").write_text("live\n")
    for index, minor in enumerate(minors):
        bus = 5 + 16 * index
        (nodes / str(2 + index)).mkdir()
        (nodes / f"{2 + index}/properties").write_text(properties(minor, bus))
        place = root / f"sys/bus/pci/devices/0000:{bus:02x}:00.0"
        place.mkdir(parents=True)
        about = {**PCI, "numa_node": str(numa[index]), "unique_id": f"{index:016x}"}
        (place / "ras").mkdir()
        for name, text in {**about, **RAS}.items():
            (place / name).write_text(f"{text}\n" if text else "")
        for further in range(minor, minor + 8):
            (root / f"dev/dri/renderD{further}").touch()
        (root / f"dev/dri/card{index}").touch()
        drm = root / f"sys/class/drm/renderD{minor}"
        drm.mkdir(parents=True)
        # relative, so that the tree can be the root of a host
        (drm / "device").symlink_to(os.path.relpath(place, drm))
    return root
