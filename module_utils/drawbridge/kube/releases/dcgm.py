# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters of dcgm-exporter, as lines of its CSV file: those of its own default, and those that training needs.

Names are those of default-counters.csv of dcgm-exporter 4.x; DCGM 4.6 renamed some and keeps these as aliases.
"""

from __future__ import annotations

COUNTER, GAUGE = "counter", "gauge"
_DEV, _PROF = "DCGM_FI_DEV_", "DCGM_FI_PROF_"
_DEFAULT = (
    (f"{_DEV}SM_CLOCK", GAUGE, "Clock of the SMs in MHz."),
    (f"{_DEV}MEM_CLOCK", GAUGE, "Clock of the memory in MHz."),
    (f"{_DEV}MEMORY_TEMP", GAUGE, "Temperature of the memory in C."),
    (f"{_DEV}GPU_TEMP", GAUGE, "Temperature of the GPU in C."),
    (f"{_DEV}POWER_USAGE", GAUGE, "Power in W."),
    (f"{_DEV}TOTAL_ENERGY_CONSUMPTION", COUNTER, "Energy since boot in mJ."),
    (f"{_DEV}PCIE_REPLAY_COUNTER", COUNTER, "Retries on PCIe."),
    (f"{_DEV}GPU_UTIL", GAUGE, "Share of time with a kernel in %."),
    (f"{_DEV}MEM_COPY_UTIL", GAUGE, "Share of time with memory traffic in %."),
    (f"{_DEV}XID_ERRORS", GAUGE, "The last XID."),
    (f"{_DEV}FB_FREE", GAUGE, "Free memory in MiB."),
    (f"{_DEV}FB_USED", GAUGE, "Used memory in MiB."),
    (f"{_DEV}FB_RESERVED", GAUGE, "Reserved memory in MiB."),
    (f"{_DEV}NVLINK_BANDWIDTH_TOTAL", COUNTER, "Traffic over all NVLinks."),
    (f"{_DEV}UNCORRECTABLE_REMAPPED_ROWS", COUNTER, "Rows remapped for uncorrectable errors."),
    (f"{_DEV}CORRECTABLE_REMAPPED_ROWS", COUNTER, "Rows remapped for correctable errors."),
    (f"{_DEV}ROW_REMAP_FAILURE", GAUGE, "1 if a row could not be remapped."),
    (f"{_PROF}GR_ENGINE_ACTIVE", GAUGE, "Share of time in which the GPU computes."),
    (f"{_PROF}PIPE_TENSOR_ACTIVE", GAUGE, "Share of cycles in which tensor cores work."),
    (f"{_PROF}DRAM_ACTIVE", GAUGE, "Share of cycles with memory traffic."),
    (f"{_PROF}PCIE_TX_BYTES", GAUGE, "Sent over PCIe in bytes per second."),
    (f"{_PROF}PCIE_RX_BYTES", GAUGE, "Received over PCIe in bytes per second."),
)
_TRAINING = (
    (f"{_PROF}SM_ACTIVE", GAUGE, "Share of cycles in which an SM has work."),
    (f"{_PROF}SM_OCCUPANCY", GAUGE, "Resident warps as a share of the most."),
    (f"{_PROF}NVLINK_TX_BYTES", GAUGE, "Sent over NVLink in bytes per second."),
    (f"{_PROF}NVLINK_RX_BYTES", GAUGE, "Received over NVLink in bytes per second."),
    (f"{_DEV}POWER_VIOLATION", COUNTER, "Time for which the power limit lowered clocks."),
    (f"{_DEV}THERMAL_VIOLATION", COUNTER, "Time for which heat lowered clocks."),
    (f"{_DEV}CLOCKS_EVENT_REASONS", GAUGE, "Why clocks are lowered (bits)."),
    (f"{_DEV}ECC_SBE_VOL_TOTAL", COUNTER, "Corrected memory errors since the driver was loaded."),
    (f"{_DEV}ECC_DBE_VOL_TOTAL", COUNTER, "Uncorrected memory errors since the driver was loaded."),
)
NAME = "drawbridge-dcgm-counters"
"""The ConfigMap that the chart makes of them."""


def counters() -> str:
    """The text of the file."""
    return "".join(f"{field}, {kind}, {about}\n" for field, kind, about in (*_DEFAULT, *_TRAINING))
