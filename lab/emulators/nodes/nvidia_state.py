# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of GPUs as nvidia-smi prints it: the XML of -q -x and the text of nvlink -s.

Fields and their order: a real H100 with driver 580. A board with switches has the state of their fabric, too.
Faults are planted in the device `proof`, below `gpus` and the index: `pcie` (generation and width) and `links_down`.
Below 100, `percent` says that the GPU is hot. `xml` has other texts by the names of elements.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from ..common import host_device

if TYPE_CHECKING:
    from collections.abc import Iterator

LINKS, LINK_RATE = 18, "26.562 GB/s"
_OFF = "Not Active"
_REASONS = (
    *("gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "hw_thermal_slowdown"),
    *("hw_power_brake_slowdown", "sync_boost", "sw_thermal_slowdown", "display_clocks_setting"),
)
_ERRORS = (
    *("sram_correctable", "sram_uncorrectable_parity", "sram_uncorrectable_secded"),
    *("dram_correctable", "dram_uncorrectable"),
)
_NO = dict.fromkeys(("channel_repair_pending", "tpc_repair_pending", "unrepairable_memory"), "No")
_ROWS = {f"remapped_row_{name}": "0" for name in ("corr", "corr_inactive", "unc", "unc_inactive")}
_CLOCKS = {"graphics_clock": "1980 MHz", "mem_clock": "2619 MHz"}
_HEALTH = {
    **{"summary": "Healthy", "bandwidth": "Full", "route_recovery_in_progress": "False", "route_unhealthy": "False"},
    **{"access_timeout_recovery": "False", "incorrect_configuration": "None"},
}


def planted(index: str) -> dict[str, Any]:
    """Return the faults of a GPU."""
    with host_device("proof").state() as state:
        return json.loads(json.dumps(state.get("gpus", {}).get(index, {})))


def _gpu(gpu: dict[str, str], own: dict[str, Any]) -> dict[str, Any]:
    """Return the elements of a GPU."""
    generation, width = own.get("pcie", (5, 16))
    hot = own.get("percent", 100) < 100
    active = {"gpu_idle": not hot, "hw_slowdown": hot, "hw_thermal_slowdown": hot}
    most = {"max_link_gen": "5", "current_link_gen": str(generation), "device_current_link_gen": str(generation)}
    link = {"max_link_width": "16x", "current_link_width": f"{width}x"}
    return {
        **{"product_name": gpu["name"], "product_brand": "NVIDIA", "product_architecture": "Hopper"},
        **{"persistence_mode": "Enabled", "serial": "1650000000001", "uuid": gpu["uuid"], "minor_number": gpu["index"]},
        "gpu_recovery_action": "None",
        "pci": {
            "pci_bus_id": gpu["pci.bus_id"],
            "pci_gpu_link_info": {"pcie_gen": {**most, "max_device_link_gen": "5"}, "link_widths": link},
        },
        "performance_state": "P0",
        "clocks_event_reasons": {
            f"clocks_event_reason_{name}": "Active" if active.get(name) else _OFF for name in _REASONS
        },
        "ecc_mode": {"current_ecc": "Enabled", "pending_ecc": "Enabled"},
        "ecc_errors": {
            "volatile": dict.fromkeys(_ERRORS, "0"),
            "aggregate": {**dict.fromkeys(_ERRORS, "0"), "sram_threshold_exceeded": "No"},
            **_NO,
        },
        "retired_pages": {"pending_blacklist": "N/A", "pending_retirement": "N/A"},
        "remapped_rows": {**_ROWS, "remapped_row_pending": "No", "remapped_row_failure": "No"},
        # how many degrees below the slowdown it is
        "temperature": {"gpu_temp": "37 C", "gpu_temp_tlimit": "50 C", "gpu_temp_slow_tlimit_threshold": "-2 C"},
        "gpu_power_readings": {"current_power_limit": "700.00 W", "default_power_limit": "700.00 W"},
        "applications_clocks": _CLOCKS,
        "default_applications_clocks": _CLOCKS,
        "fabric": {"state": "Completed", "status": "Success", "health": _HEALTH},
    }


def xml(gpus: list[dict[str, str]]) -> list[str]:
    """Return the lines of -q -x."""
    lines = ['<?xml version="1.0" ?>', '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">', "<nvidia_smi_log>"]
    lines += [f"\t<driver_version>{gpus[0]['driver_version']}</driver_version>"]
    lines += [f"\t<attached_gpus>{len(gpus)}</attached_gpus>"]
    for gpu in gpus:
        own = planted(gpu["index"])
        inside = _elements(_gpu(gpu, own), own.get("xml", {}), "\t\t")
        lines += [f'\t<gpu id="{gpu["pci.bus_id"]}">', *inside, "\t</gpu>"]
    return [*lines, "</nvidia_smi_log>"]


def _elements(content: dict[str, Any], other: dict[str, str], indent: str) -> Iterator[str]:
    for name, value in content.items():
        if isinstance(value, dict):
            yield f"{indent}<{name}>"
            yield from _elements(value, other, f"{indent}\t")
            yield f"{indent}</{name}>"
        else:
            yield f"{indent}<{name}>{escape(str(other.get(name, value)))}</{name}>"


def links(gpus: list[dict[str, str]]) -> list[str]:
    """Return the lines of nvlink -s."""
    lines = []
    for gpu in gpus:
        down = planted(gpu["index"]).get("links_down", 0)
        lines.append(f"GPU {gpu['index']}: {gpu['name']} (UUID: {gpu['uuid']})")
        lines += [f"\t Link {at}: {'<inactive>' if at < down else LINK_RATE}" for at in range(LINKS)]
    return lines
