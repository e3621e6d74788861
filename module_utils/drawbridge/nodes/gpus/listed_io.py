# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPUs in the kernel's own list, for vendors whose GPUs are read without a tool, and GPUs on the PCI bus."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.converge import DeviceError
from .vendor import Vendor
from .vendors import VENDORS


def listed(vendor: Vendor, root: str = "/") -> list[dict[str, Any]]:
    """GPUs with `pci` and `minor`, in the kernel's order; none without a driver. Raises DeviceError.

    `root` is a prefix of all paths, for tests.
    """
    found = []
    for path in sorted(Path(root).glob(vendor.kernel_list.lstrip("/")), key=_number):
        try:
            found.append(vendor.read_kernel_list(path.read_text(errors="replace")))
        except (OSError, ValueError) as err:
            raise DeviceError(f"{path} can't be read: {err}") from err
    return [gpu for gpu in found if gpu]


def on_bus(vendor: Vendor, root: str = "/") -> list[str]:
    """PCI addresses of the vendor's GPUs."""
    places = sorted((Path(root) / "sys/bus/pci/devices").glob("*"))
    own = [it for it in places if _word(it / "vendor") == vendor.pci]
    return [it.name for it in own if _word(it / "class")[:6] in vendor.pci_classes]


def foreign(vendor: Vendor, root: str = "/") -> dict[str, int]:
    """How many GPUs of each other vendor the host has."""
    counts = {name: len(on_bus(other, root)) for name, other in VENDORS.items() if other is not vendor}
    return {name: count for name, count in counts.items() if count}


def other_modes(vendor: Vendor, wanted: Mapping[str, str], root: str = "/") -> list[str]:
    """What differs from the wanted partition modes, in words with the repair."""
    found = []
    for part, mode in wanted.items():
        how = vendor.partitions[part]
        seen = [mode_of(path) or "unknown" for path in sorted(Path(root).glob(how.files.lstrip("/")))] or ["unknown"]
        if wrong := [one for one in seen if one != mode]:
            repair = how.repair.format(mode=mode)
            found.append(f"{part} partition {wrong[0]} instead of {mode} on {len(wrong)} GPUs (idle: {repair})")
    return found


def mode_of(path: Path) -> str:
    """The partition mode in a file of the kernel; "" if it can't be read."""
    return _word(path)


def _word(path: Path) -> str:
    """Text of a file of /sys; "" if it can't be read."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _number(path: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"[0-9]+", str(path.parent.name)))


def files(vendor: Vendor, numbers: list[int], root: str = "/") -> list[int]:
    """Of these numbers those that have a device file."""
    return [number for number in numbers if Path(f"{root}/{vendor.devices.lstrip('/')}{number}").exists()]
