# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Juniper Junos: how much one queue of the lossless class can buffer, of which ECN thresholds are a percentage.

A drop profile's fill level is a percentage of the memory that the queue can have (Junos, "Configuring CoS WRED Drop
Profiles"). A queue that alone is congested can have alpha / (1 + alpha) of the lossless pool at egress.
"""

from __future__ import annotations

KILOBYTE = 1024
LOSSLESS_KB = {
    "tomahawk": 5616,  # QFX5200
    "tomahawk2": 14040,  # QFX5210
    "tomahawk3": 8884,  # QFX5220
    "tomahawk4": 14948,  # QFX5230
    "tomahawk5": 16841,  # QFX5240
    "trident3": 13698,  # QFX5120
    "trident4": 22252,  # QFX5130
}
"""Egress lossless buffer without any `shared-buffer` in the configuration: Juniper, "QFX5K-Series Switches Packet
Buffer Architecture", 2025, table of default values."""
ALPHA = 8
"""What Junos's default dynamic threshold of that pool, 10, means in hardware (same source)."""
OTHER = "other"
"""An ASIC that is not in the table."""


def queue_bytes(asic: str, given: int) -> int:
    """The buffer that a queue can fill: what the intent gives, or that of the ASIC; 0 if neither is known."""
    return given or LOSSLESS_KB.get(asic, 0) * KILOBYTE * ALPHA // (1 + ALPHA)


def percent(threshold: int, buffer: int) -> int:
    """The nearest whole percentage of the buffer, as Junos takes it."""
    return (threshold * 200 + buffer) // (2 * buffer)
