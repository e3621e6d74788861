# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's tree of a host with AMD's GPUs, as files: two CPUs, then GPUs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

MINORS = (128, 136, 144, 152, 160, 168, 176, 184)
"""Of eight MI300X: the driver keeps eight numbers for each."""

LINK = {
    f"{which}_link_{what}": text
    for which in ("current", "max")
    for what, text in (("speed", "32.0 GT/s PCIe"), ("width", "16"))
}
BLOCKS = ("umc", "sdma", "gfx", "mmhub", "pcie_bif", "hdp", "xgmi_wafl")
RAS = {**{f"ras/{block}_err_count": "ue: 0\nce: 2\nde: 0" for block in BLOCKS}, "ras/gpu_vram_bad_pages": ""}
"""Files of a GPU without faults. An error that was corrected is none."""


def properties(minor: int, bus: int = 0, partition: int = 0) -> str:
    """KFD's file about a GPU, or with minor 0 about a CPU."""
    keys = {
        "cpu_cores_count": 0 if minor else 96,
        "simd_count": 1216 if minor else 0,
        "gfx_target_version": 90402 if minor else 0,
        "vendor_id": 4098 if minor else 0,
        "device_id": 29857 if minor else 0,
        "location_id": partition << 28 | bus << 8,
        "domain": 0,
        "drm_render_minor": minor,
    }
    return "".join(f"{key} {value}\n" for key, value in keys.items())


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
        about = {"vendor": "0x1002", "class": "0x120000", "numa_node": str(numa[index]), "unique_id": f"{index:016x}"}
        about |= {"current_compute_partition": "SPX", "current_memory_partition": "NPS1"}
        (place / "ras").mkdir()
        for name, text in {**about, **LINK, **RAS}.items():
            (place / name).write_text(f"{text}\n" if text else "")
        for further in range(minor, minor + 8):
            (root / f"dev/dri/renderD{further}").touch()
        (root / f"dev/dri/card{index}").touch()
        drm = root / f"sys/class/drm/renderD{minor}"
        drm.mkdir(parents=True)
        # relative, so that the tree can be the root of a host
        (drm / "device").symlink_to(os.path.relpath(place, drm))
    return root
