# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts about AMD's GPUs: the kernel's topology (KFD), and the JSON of amd-smi in the forms of releases 6 and 7."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

KFD = "/sys/class/kfd/kfd"
DEVICE = "/sys/class/drm/renderD{}/device"
"""Folder of the GPU with this render node."""
_EIGHT = ("mi300x", "mi325x")
_PARTS = {"SPX": 1, "DPX": 2, "QPX": 4, "CPX": 8}
FITTING = {"NPS1": tuple(_PARTS), "NPS2": ("DPX",), "NPS4": ("QPX", "CPX")}
"""Compute modes of an MI300X or MI325X by memory mode."""


def parts(model: str) -> Mapping[str, int]:
    """GPUs that each compute mode makes of one GPU; empty for a model whose modes are read at run time."""
    return _PARTS if model.lower().startswith(_EIGHT) else {}


def gpu(text: str) -> dict[str, Any]:
    """A GPU of KFD's file `properties`: address, number of its render node and of its parts; empty for a CPU.

    A GPU in several partitions has a file for each of them, with one address. Raises ValueError for another text.
    """
    keys = {key: value for key, _blank, value in (line.strip().partition(" ") for line in text.splitlines())}
    try:
        minor = int(keys["drm_render_minor"])
        if not minor:
            return {}
        return {"pci": _address(int(keys["domain"]), int(keys["location_id"])), "minor": minor}
    except KeyError as err:
        raise ValueError(f"no key {err.args[0]}") from err


def _address(domain: int, location: int) -> str:
    """The PCI address. Higher bits of the location have the partition."""
    return f"{domain:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"


def products(text: str) -> list[dict[str, str]]:
    """Address and product name, from `amd-smi static --asic --bus --json`. Raises ValueError for another text."""
    return [
        {"pci": str(_part(one, "bus").get("bdf", "")).lower(), "name": _name(_part(one, "asic").get("market_name"))}
        for one in gpus(text)
    ]


def gpus(text: str) -> list[Mapping[str, Any]]:
    """The GPUs of amd-smi's JSON: a list, since release 7 under a key. Raises ValueError for another text."""
    shown = json.loads(text)
    found = shown.get("gpu_data", shown) if isinstance(shown, dict) else shown
    if not isinstance(found, list) or not all(isinstance(one, dict) and str(one.get("gpu")).isdigit() for one in found):
        raise ValueError("no list of GPUs")
    return found


def _part(gpu: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = gpu.get(key)
    return found if isinstance(found, dict) else {}


def _name(shown: Any) -> str:
    return "" if shown in (None, "N/A") else str(shown)
