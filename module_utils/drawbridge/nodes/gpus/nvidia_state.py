# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of NVIDIA's GPUs: the XML of `nvidia-smi -q -x`, and the text of `nvidia-smi nvlink -s`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from xml.etree import ElementTree

from . import state
from .nvidia import pci
from .nvidia_faults import read_log
from .state import GpuState, Read, StateReader

_NONE = ("N/A", "[N/A]", "Not Supported", "[Not Supported]", "Requested functionality has been deprecated")
_REASONS = (
    *("hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"),
    # before driver 535
    *("hw_power_brake", "sw_thermal"),
)
"""Reasons that lower clocks although the GPU has work. A power cap under load is normal, and so is an idle GPU."""
Reading = Callable[[ElementTree.Element], Read]


class _Unknown(Exception):
    """The text that was not recognised."""


def read(texts: Sequence[str]) -> list[GpuState]:
    """GPUs in the driver's order. Raises ValueError for a text without whole XML."""
    begin, end = texts[0].find("<nvidia_smi_log"), texts[0].find("</nvidia_smi_log>")
    if begin < 0 or end < 0:
        raise ValueError("no XML of nvidia-smi")
    try:
        log = ElementTree.fromstring(f"{texts[0][begin:end]}</nvidia_smi_log>")
    except ElementTree.ParseError as err:
        raise ValueError(f"invalid XML: {err}") from err
    return [_state(index, gpu) for index, gpu in enumerate(log.iterfind("gpu"))]


def _state(index: int, gpu: ElementTree.Element) -> GpuState:
    values: dict[str, Read] = {}
    unknown: dict[str, str] = {}
    for name, reading in _READINGS.items():
        try:
            values[name] = reading(gpu)
        except _Unknown as err:
            unknown[name] = str(err)
    return GpuState(index, values, unknown)


def _text(*paths: str) -> Callable[[ElementTree.Element], str | None]:
    """The text of the first path that exists; None for "N/A". Drivers differ in the names of fields."""

    def find(gpu: ElementTree.Element) -> str | None:
        found = next((text for path in paths if (text := gpu.findtext(path)) is not None), None)
        if found is None:
            raise _Unknown(f"no field {paths[0]}")
        return None if found.strip() in _NONE else found.strip()

    return find


def _optional(*paths: str) -> Callable[[ElementTree.Element], str | None]:
    """The same for a field that old drivers have not: they have nothing to say."""
    return lambda gpu: _text(*paths)(gpu) if any(gpu.find(path) is not None for path in paths) else None


def _number(pattern: str, *paths: str) -> Reading:
    def find(gpu: ElementTree.Element) -> Read:
        text = _text(*paths)(gpu)
        match = re.fullmatch(pattern, text) if text is not None else None
        if text is not None and not match:
            raise _Unknown(text)
        return float(match[1]) if match else None

    return find


def _yes(words: Mapping[str, bool], find: Callable[[ElementTree.Element], str | None]) -> Reading:
    def read_word(gpu: ElementTree.Element) -> Read:
        text = find(gpu)
        if text is not None and text not in words:
            raise _Unknown(text)
        return None if text is None else words[text]

    return read_word


def _uncorrected(gpu: ElementTree.Element) -> Read:
    """Uncorrected errors since the driver was loaded. The parts' names differ between generations."""
    parts = gpu.iterfind("ecc_errors/volatile/*")
    counts = [part for part in parts if "uncorrectable" in part.tag]
    texts = [text for part in counts if (text := (part.text or "").strip()) not in _NONE]
    if not counts and (gpu.findtext("ecc_errors") or "").strip() not in _NONE:
        raise _Unknown("no field ecc_errors/volatile")
    if not all(text.isdigit() for text in texts):
        raise _Unknown(", ".join(texts))
    return float(sum(int(text) for text in texts)) if texts else None


def _flags(fields: Mapping[str, str]) -> Reading:
    """The words of the fields that say yes."""
    return lambda gpu: ", ".join(words for path, words in fields.items() if _yes(_YES, _optional(path))(gpu))


def _heat_left(gpu: ElementTree.Element) -> Read:
    """Degrees to the slowdown. Since Ada, margins count down to 0 or below; older GPUs have temperatures."""
    names = ("gpu_temp_tlimit", "gpu_temp_slow_tlimit_threshold", "gpu_temp_slow_threshold", "gpu_temp")
    paths = [f"temperature/{name}" for name in names]
    margin, slow, threshold, now = (
        _number(r"(-?\d+) C", path)(gpu) if gpu.find(path) is not None else None for path in paths
    )
    if margin is not None and slow is not None:
        return float(margin) - float(slow)
    return None if threshold is None or now is None else float(threshold) - float(now)


def _slowed(gpu: ElementTree.Element) -> Read:
    """The active reasons, in words."""
    reasons = next(
        (part for name in ("event", "throttle") if (part := gpu.find(f"clocks_{name}_reasons")) is not None), None
    )
    if reasons is None:
        raise _Unknown("no field clocks_event_reasons")
    named = {re.sub(r"^clocks_(event|throttle)_reason_", "", one.tag): (one.text or "").strip() for one in reasons}
    odd = [f"{name} {text}" for name, text in named.items() if text not in ("Active", "Not Active", *_NONE)]
    if odd or not any(name in named for name in _REASONS):
        raise _Unknown(", ".join(odd) or "no reason that is known")
    return ", ".join(name.replace("_", " ") for name in _REASONS if named.get(name) == "Active")


_YES = {"Yes": True, "No": False}
_ON = {"Enabled": True, "Disabled": False}
_LINK = "pci/pci_gpu_link_info"
_GENERATION = rf"{_LINK}/pcie_gen"
_READINGS: Mapping[str, Reading] = {
    state.PRODUCT: _text("product_name"),
    state.PCI: lambda gpu: pci(_text("pci/pci_bus_id")(gpu) or ""),
    state.GENERATION: _number(r"(\d)", f"{_GENERATION}/current_link_gen"),
    state.MOST_GENERATION: _number(r"(\d)", f"{_GENERATION}/max_device_link_gen", f"{_GENERATION}/max_link_gen"),
    state.WIDTH: _number(r"(\d+)x", f"{_LINK}/link_widths/current_link_width"),
    state.MOST_WIDTH: _number(r"(\d+)x", f"{_LINK}/link_widths/max_link_width"),
    state.ACTIVE: _yes({f"P{level}": level < 2 for level in range(16)}, _text("performance_state")),
    state.ECC: _yes(_ON, _text("ecc_mode/current_ecc")),
    state.UNCORRECTED: _uncorrected,
    state.BEYOND_REPAIR: _flags(
        {
            "ecc_errors/unrepairable_memory": "memory that can't be repaired",
            "ecc_errors/aggregate/sram_threshold_exceeded": "more SRAM errors than the vendor allows",
        }
    ),
    state.REPAIR_WAITS: _flags(
        {
            "ecc_errors/channel_repair_pending": "a memory channel that a reset repairs",
            "ecc_errors/tpc_repair_pending": "processors that a reset repairs",
        }
    ),
    # GPUs before Ampere retire pages
    state.REMAP_PENDING: _yes(
        _YES, _text("remapped_rows/remapped_row_pending", "retired_pages/pending_retirement", "remapped_rows")
    ),
    state.REMAP_FAILED: _yes(_YES, _text("remapped_rows/remapped_row_failure", "remapped_rows")),
    state.FABRIC: _optional("fabric/state"),
    state.FABRIC_STATUS: _optional("fabric/status"),
    state.FABRIC_HEALTH: _optional("fabric/health/summary"),
    state.SLOWED: _slowed,
    state.POWER: _number(r"([\d.]+) W", "gpu_power_readings/current_power_limit", "power_readings/power_limit"),
    state.DEFAULT_POWER: _number(
        r"([\d.]+) W", "gpu_power_readings/default_power_limit", "power_readings/default_power_limit"
    ),
    state.CLOCK: _number(r"(\d+) MHz", "applications_clocks/graphics_clock"),
    state.DEFAULT_CLOCK: _number(r"(\d+) MHz", "default_applications_clocks/graphics_clock"),
    state.PERSISTENT: _yes(_ON, _text("persistence_mode")),
    state.ADVICE: _optional("gpu_recovery_action"),
    state.HEAT_LEFT: _heat_left,
    state.DIVIDING: _yes(_ON, _optional("mig_mode/current_mig")),
    state.INSTANCES: lambda gpu: float(len(gpu.findall("mig_devices/mig_device"))),
}

_GPU = re.compile(r"^GPU (\d+): ")
_RATE = re.compile(r"^\s+Link (\d+): (?:(\d+(?:\.\d+)?) GB/s|<?inactive>?)\s*$", re.IGNORECASE)
_ALL_DOWN = re.compile(r"^\s*(?:NVML: )?Unable to retrieve NVLink information", re.IGNORECASE)


def read_links(text: str) -> dict[int, list[float]]:
    """GB/s of the links of each GPU, 0 for one that is down; no link for a GPU that has none, or none up."""
    found: dict[int, list[float]] = {}
    gpu = -1
    for line in text.splitlines():
        if begun := _GPU.match(line):
            gpu = int(begun[1])
            found[gpu] = []
        elif (link := _RATE.match(line)) and gpu >= 0:
            found[gpu].append(float(link[2] or 0))
        elif line.strip() and not _ALL_DOWN.match(line):
            raise ValueError(line.strip())
    if not found:
        raise ValueError("no GPU")
    return found


_SMI = "nvidia-smi"
STATE = StateReader(
    programs=((_SMI, "-q", "-x"),),
    read=lambda outputs, _files: read(outputs),
    covers=frozenset(_READINGS),
    links=(_SMI, "nvlink", "-s"),
    read_links=read_links,
    read_log=read_log,
    persistence_unit="nvidia-persistenced",
)
