# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of the kernel about MI300X GPUs: KFD's topology, PCI devices and render nodes, in partition modes SPX and NPS1.

Keys and values: a dump of a real node in the tests of AMD's device plugin, and amdgpu of Linux 6.12.
"""

from __future__ import annotations

import posixpath

from lab.machine.hardware import Hardware

STEP = 8
"""The driver keeps eight numbers of render nodes for each GPU."""
FIRST = 128
PCI = {
    **{"vendor": "0x1002", "device": "0x74a1", "class": "0x120000"},
    **{"current_compute_partition": "SPX", "current_memory_partition": "NPS1"},
    **{f"{which}_link_speed": "32.0 GT/s PCIe" for which in ("current", "max")},
    **{f"{which}_link_width": "16" for which in ("current", "max")},
}
_KFD = "layer/sys/class/kfd/kfd"


def minor(index: int) -> int:
    """Return the number of a GPU's render node."""
    return FIRST + STEP * index


def render_node(index: int) -> str:
    """Return the device file of a GPU."""
    return f"/dev/dri/renderD{minor(index)}"


def address(index: int) -> str:
    """Return a GPU's PCI address; each one has a bus of its own."""
    return f"0000:{_bus(index):02x}:00.0"


def _bus(index: int) -> int:
    return 5 + 16 * index


def gpus(hardware: Hardware) -> tuple[dict[str, str], dict[str, str]]:
    """Return files and links, by path."""
    files = {f"{_KFD}/proc/.lab": ""}
    links: dict[str, str] = {}
    for cpu in range(hardware.numa_nodes):
        files[f"{_KFD}/topology/nodes/{cpu}/properties"] = properties(0)
    for index, node in enumerate(hardware.gpu_numa):
        files[f"{_KFD}/topology/nodes/{hardware.numa_nodes + index}/properties"] = properties(minor(index), _bus(index))
        device = f"layer/sys/bus/pci/devices/{address(index)}"
        about = {**PCI, "numa_node": str(node), "unique_id": f"{0xABC0 + index:016x}"}
        files |= {f"{device}/{name}": f"{value}\n" for name, value in about.items()}
        place = f"layer/sys/class/drm/renderD{minor(index)}/device"
        links[place] = posixpath.relpath(device, posixpath.dirname(place))
    return files, links


def devices(hardware: Hardware) -> list[tuple[str, int, int]]:
    """Return path and numbers of the device files. One is of all GPUs."""
    nodes = [(render_node(index), 226, minor(index)) for index in range(len(hardware.gpu_numa))]
    return [("/dev/kfd", 511, 0), *nodes]


def properties(render: int, bus: int = 0, partition: int = 0) -> str:
    """Return KFD's file about a GPU or a part of one, or without a render node about a CPU."""
    keys = {
        "cpu_cores_count": 0 if render else 96,
        "simd_count": 1216 if render else 0,
        "gfx_target_version": 90402 if render else 0,
        "vendor_id": 4098 if render else 0,
        "device_id": 29857 if render else 0,
        "location_id": partition << 28 | bus << 8,
        "domain": 0,
        "drm_render_minor": render,
    }
    return "".join(f"{key} {value}\n" for key, value in keys.items())
