# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts of NVIDIA's tools."""

from __future__ import annotations

import re

_MINOR = re.compile(r"^Device Minor:\s*([0-9]+)\s*$", re.MULTILINE)
_PCI = re.compile(r"^([0-9a-f]{4,8}):([0-9a-f]{2}:[0-9a-f]{2}[.][0-7])$")


def products(text: str) -> list[dict[str, str]]:
    """Address and product name, from `nvidia-smi --query-gpu=pci.bus_id,name --format=csv,noheader`."""
    rows = [line.split(", ", 1) for line in text.splitlines() if ", " in line]
    return [{"pci": pci(row[0]), "name": row[1]} for row in rows]


def pci(address: str) -> str:
    """The address as the kernel writes it: nvidia-smi prints capital letters and eight digits of the domain."""
    match = _PCI.match(address.lower())
    return f"{match.group(1)[-4:]}:{match.group(2)}" if match else address


def minor(text: str) -> int:
    """The number of a GPU's device file, from the driver's file about the GPU; -1 without one."""
    match = _MINOR.search(text)
    return int(match.group(1)) if match else -1
