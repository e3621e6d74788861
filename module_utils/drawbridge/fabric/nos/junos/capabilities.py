# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Juniper Junos on QFX switches: what its class of service can't carry."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ....core.faults import Fault
from ...model import Fabric, Switches
from ..capabilities import Capabilities
from ..releases import Releases
from .buffers import percent, queue_bytes

CONTROL_PERCENT = 5
"""The share of the switch's own control traffic, which Junos's default scheduler map gives it too."""
POLLS_MS = range(100, 1001, 100)
DETECTIONS = range(2, 11)
RECOVERY_MS = range(200, 10001)
UNIT = 1000
"""EOS and OS10 count thresholds in so many bytes, and one threshold is for all switches."""


def _of_junos(fabric: Fabric) -> Iterator[tuple[str, Switches]]:
    for index, kind in enumerate(fabric.switches):
        if kind.platform == "junos":
            yield f"drawbridge_fabric.switches[{index}]", kind


def _buffer_is_known(fabric: Fabric) -> Iterator[Fault]:
    """Without the size of a queue's buffer, bytes can't become a percentage."""
    for key, kind in _of_junos(fabric):
        if not queue_bytes(kind.asic, kind.queue_buffer_bytes):
            reason = "Junos takes ECN thresholds in percent of a queue's buffer, and that of this ASIC is not known"
            repair = "add queue_buffer_bytes beside it, or name the ASIC"
            yield Fault(f"{key}.asic", kind.asic, reason, repair)


def _thresholds_are_whole_percents(fabric: Fabric) -> Iterator[Fault]:
    """Junos rounds; a threshold of 0 % would mark everything, and two equal ones are refused by the switch."""
    low, high = fabric.roce.ecn_min_bytes, fabric.roce.ecn_max_bytes
    for key, kind in _of_junos(fabric):
        buffer = queue_bytes(kind.asic, kind.queue_buffer_bytes)
        if not buffer or kind.marking(fabric.roce) != fabric.roce:
            continue  # thresholds of its own are refused for Junos
        one = -(-buffer // 100)
        why = f"Junos takes whole percents of a queue's buffer, and 1 % is {one} bytes on {kind.asic} of {key}"
        if not percent(low, buffer):
            yield Fault("drawbridge_fabric.roce.ecn_min_bytes", low, why, f"write at least {_thousands(one / 2)}")
        elif percent(low, buffer) >= percent(high, buffer):
            repair = f"write at least {_thousands((percent(low, buffer) + 1) * one)}"
            yield Fault("drawbridge_fabric.roce.ecn_max_bytes", high, why, repair)
        elif percent(high, buffer) > 100:
            yield Fault("drawbridge_fabric.roce.ecn_max_bytes", high, why, f"write at most {buffer // UNIT * UNIT}")


def _thousands(least: float) -> int:
    """The smallest threshold in bytes that is enough, and that every system takes."""
    return math.ceil(least / UNIT) * UNIT


def _control_traffic_keeps_a_share(fabric: Fabric) -> Iterator[Fault]:
    """Other traffic needs at least 1 % beside the switch's own."""
    storage = fabric.storage.bandwidth_percent if fabric.storage else 0
    left = 100 - CONTROL_PERCENT - storage - fabric.roce.bandwidth_percent
    if left < 1:
        most = 100 - CONTROL_PERCENT - storage - 1
        reason = f"on Junos control traffic has {CONTROL_PERCENT} %, and nothing is left for other traffic"
        repair = f"set at most {most}" if most > 0 else "give storage a smaller share"
        yield Fault("drawbridge_fabric.roce.bandwidth_percent", fabric.roce.bandwidth_percent, reason, repair)


def _watchdog_counts_polls(fabric: Fabric) -> Iterator[Fault]:
    """Junos polls in steps of 100 ms, and counts 2 to 10 of them."""
    watchdog, key = fabric.watchdog, "drawbridge_fabric.watchdog"
    if watchdog.poll_ms not in POLLS_MS:
        reason = "Junos polls every 100 to 1000 ms, in steps of 100"
        yield Fault(f"{key}.poll_ms", watchdog.poll_ms, reason, "write poll_ms: 100")
        return
    if watchdog.detect_ms % watchdog.poll_ms or watchdog.detect_ms // watchdog.poll_ms not in DETECTIONS:
        low, high = (watchdog.poll_ms * count for count in (DETECTIONS[0], DETECTIONS[-1]))
        reason = f"Junos counts {DETECTIONS[0]} to {DETECTIONS[-1]} intervals of poll_ms, {watchdog.poll_ms}"
        repair = f"write a multiple of {watchdog.poll_ms} from {low} to {high}"
        yield Fault(f"{key}.detect_ms", watchdog.detect_ms, reason, repair)
    if watchdog.restore_ms not in RECOVERY_MS:
        reason = f"Junos recovers after {RECOVERY_MS[0]} to {RECOVERY_MS[-1]} ms"
        yield Fault(f"{key}.restore_ms", watchdog.restore_ms, reason, f"write at least {RECOVERY_MS[0]}, at most 10000")


CAPABILITIES = Capabilities(
    ports=r"(et|xe)-\d+/\d+/\d+(:\d+)?|ae\d+",
    ports_repair="list ports such as et-0/0/0-31, et-0/0/0:0-3 for breakout ports, or ae0 for a bundle",
    mtu_bytes=9216,
    mtu_reason="Junos takes at most 9216",
    releases=Releases(
        system="Junos",
        line="show version",
        pattern=r"^Junos: (\S+)",
        oldest="23.4",
        newest="25.2",
        source="Juniper's Class of Service User Guide (QFX), and Packet Buffer Architecture of 2025",
    ),
    percent_of_buffer=True,
    refusals=(
        _buffer_is_known,
        _thresholds_are_whole_percents,
        _control_traffic_keeps_a_share,
        _watchdog_counts_polls,
    ),
)
