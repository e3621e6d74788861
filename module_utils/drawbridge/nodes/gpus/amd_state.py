# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of AMD's GPUs: files of the kernel, and the JSON of amd-smi for the product alone, which no file has.

Of a GPU in several partitions, each part has the state of the whole GPU.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import state
from .amd import DEVICE, KFD, gpu, products
from .amd_faults import read_log
from .state import GpuState, Read, StateReader

_GENERATIONS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}
"""GT/s of a lane -> generation of PCIe."""
_NODE = re.compile(rf"{KFD}/topology/nodes/([0-9]+)/properties")
_COUNTS = re.compile(r"(?:(?:ue|ce|de): [0-9]+\n?)+")
"""Errors of one part of a GPU: uncorrected, corrected and, since MI300, deferred."""
_PAGE = re.compile(r"0x[0-9a-f]+ : 0x[0-9a-f]+ : ([RPF])")
"""A bad page of memory: reserved, so that no program gets it; pending; or failed."""
_LINK = {
    state.GENERATION: "current_link_speed",
    state.MOST_GENERATION: "max_link_speed",
    state.WIDTH: "current_link_width",
    state.MOST_WIDTH: "max_link_width",
}
_ERRORS, _PAGES = "ras/*_err_count", "ras/gpu_vram_bad_pages"


def read(outputs: Sequence[str], files: Mapping[str, str]) -> list[GpuState]:
    """GPUs in the kernel's order. Raises ValueError without a list of the kernel's, and for other texts."""
    nodes = sorted((int(match[1]), path) for path in files if (match := _NODE.fullmatch(path)))
    if not nodes:
        raise ValueError(f"{KFD} has no topology: the driver is not loaded")
    gpus = [found for _number, path in nodes if (found := gpu(files[path]))]
    names = {one["pci"]: one["name"] or None for text in outputs for one in products(text)}
    # the files of a GPU are at the first of its parts
    first = {one["pci"]: one["minor"] for one in reversed(gpus)}
    return [_state(index, one["pci"], names, first[one["pci"]], files) for index, one in enumerate(gpus)]


def _state(index: int, pci: str, names: Mapping[str, Read], minor: int, files: Mapping[str, str]) -> GpuState:
    folder = f"{DEVICE.format(minor)}/"
    own = {path[len(folder) :]: text.strip() for path, text in files.items() if path.startswith(folder)}
    found: dict[str, Any] = {
        state.PRODUCT: names.get(pci, ValueError(f"amd-smi has no GPU {pci}")),
        **{key: _number(own, name) for key, name in _LINK.items()},
        state.UNCORRECTED: _uncorrected(own),
        **_pages(own),
    }
    values: dict[str, Read] = {key: value for key, value in found.items() if not isinstance(value, ValueError)}
    # the links of Instinct GPUs do not sleep
    values |= {state.PCI: pci, state.ACTIVE: True}
    return GpuState(index, values, {key: str(found[key]) for key in found.keys() - values.keys()})


def _number(own: Mapping[str, str], name: str) -> Any:
    """The width of a link, or the generation by its speed, such as 32.0 GT/s PCIe; ValueError as a value."""
    if name not in own:
        return ValueError(f"no file {name}")
    if name.endswith("width"):
        return float(own[name]) if own[name].isdigit() else ValueError(own[name])
    rate = re.fullmatch(r"([0-9]+(?:[.][0-9]+)?) GT/s(?: PCIe)?", own[name])
    return _GENERATIONS.get(float(rate[1]) if rate else 0.0, ValueError(own[name]))


def _uncorrected(own: Mapping[str, str]) -> Any:
    """Errors of all parts since the driver was loaded. While a GPU recovers, a file has a sentence instead."""
    counts = [text for path, text in sorted(own.items()) if re.fullmatch(_ERRORS.replace("*", r"\w+"), path)]
    odd = [text for text in counts if not _COUNTS.fullmatch(text) or "ue: " not in text]
    if odd or not counts:
        return ValueError(odd[0] if odd else f"no file {_ERRORS}")
    return float(sum(int(count) for text in counts for count in re.findall(r"ue: ([0-9]+)", text)))


def _pages(own: Mapping[str, str]) -> dict[str, Any]:
    lines = own[_PAGES].splitlines() if _PAGES in own else [f"no file {_PAGES}"]
    flags = [match[1] if (match := _PAGE.fullmatch(line)) else ValueError(line) for line in lines]
    odd = next((flag for flag in flags if isinstance(flag, ValueError)), None)
    return {state.REMAP_FAILED: odd or "F" in flags, state.PAGES_WAIT: odd or float(flags.count("P"))}


_OF_GPU = DEVICE.format("*")
STATE = StateReader(
    programs=(("amd-smi", "static", "--asic", "--bus", "--json"),),
    read=read,
    read_log=read_log,
    covers=frozenset((state.PRODUCT, state.PCI, state.ACTIVE, *_LINK, state.UNCORRECTED))
    | {state.REMAP_FAILED, state.PAGES_WAIT},
    files=(
        f"{KFD}/topology/nodes/*/properties",
        *(f"{_OF_GPU}/{name}" for name in (*_LINK.values(), _ERRORS, _PAGES)),
    ),
    by_programs=frozenset((state.PRODUCT,)),
)
