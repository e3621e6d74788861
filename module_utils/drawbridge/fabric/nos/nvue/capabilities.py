# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Cumulus Linux with NVUE: what its RoCE mode can't carry."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.faults import Fault
from ...model import Fabric, Watchdog
from ..capabilities import BUFFERS, SUGGESTED, Capabilities
from ..releases import Came, Releases

STATUS_OF_ALL, COUNTERS_OF_ALL = "nv show interface qos-roce-status", "nv show interface qos-roce-counters"
"""Commands for all ports. Older releases have one for each port."""
ROCE, CNP, REST = 3, 6, 0
"""The priorities and traffic classes of RoCE mode: lossless, strict, and all other traffic."""


def _priorities_are_those_of_roce_mode(fabric: Fabric) -> Iterator[Fault]:
    """RoCE mode divides the buffers for priority 3 and makes priority 6 strict."""
    for name, priority, own in (("roce", fabric.roce.priority, ROCE), ("cnp", fabric.cnp.priority, CNP)):
        if priority != own:
            repair = f"use {SUGGESTED[name]}"
            yield Fault(f"drawbridge_fabric.{name}.priority", priority, f"NVUE's RoCE mode has {own} for it", repair)


def _one_class_is_lossless(fabric: Fabric) -> Iterator[Fault]:
    """A Spectrum switch has one lossless priority group (NVUE reference, shared-headroom-pool)."""
    if not fabric.storage:
        return
    if fabric.storage.lossless:
        reason, repair = "NVUE carries one lossless priority, that of roce", "set lossless: false"
        yield Fault("drawbridge_fabric.storage.lossless", True, reason, repair)
    if fabric.storage.priority == REST:
        reason, repair = "NVUE's RoCE mode puts all other traffic there", f"use {SUGGESTED['storage']}"
        yield Fault("drawbridge_fabric.storage.priority", REST, reason, repair)


def _watchdog_counts_intervals(fabric: Fabric) -> Iterator[Fault]:
    """NVUE counts whole polling intervals, and drops what a stuck queue gets."""
    watchdog = fabric.watchdog
    if watchdog.detect_ms % watchdog.poll_ms:
        lower = watchdog.detect_ms // watchdog.poll_ms * watchdog.poll_ms
        reason = f"NVUE counts whole intervals of poll_ms, {watchdog.poll_ms}"
        repair = f"write {lower or watchdog.poll_ms} or {lower + watchdog.poll_ms}"
        yield Fault("drawbridge_fabric.watchdog.detect_ms", watchdog.detect_ms, reason, repair)
    others = any(kind.platform != "nvue" for kind in fabric.switches)
    if not others and watchdog.restore_ms not in (Watchdog().restore_ms, watchdog.poll_ms):
        reason = "NVUE restores a queue after one polling interval without pause frames"
        repair = f"write restore_ms: {watchdog.poll_ms}, as poll_ms, or leave it out"
        yield Fault("drawbridge_fabric.watchdog.restore_ms", watchdog.restore_ms, reason, repair)
    if watchdog.action != "drop":
        reason = "NVUE's watchdog drops packets of a stuck queue"
        yield Fault("drawbridge_fabric.watchdog.action", watchdog.action, reason, "write action: drop")


CAPABILITIES = Capabilities(
    ports=r"swp\d+(s\d+)?",
    ports_repair="list ports such as swp1-32, or swp1s0-1 for a breakout port",
    mtu_bytes=9216,
    mtu_reason="NVUE takes at most 9216",
    releases=Releases(
        system="Cumulus Linux",
        line="cat /etc/lsb-release",
        pattern=r"^DISTRIB_RELEASE=\"?([\d.]+)",
        oldest="5.9",
        newest="5.16",
        source="NVIDIA's Cumulus Linux documentation of 5.9 and 5.16, and What's New of the releases between them",
        came=(
            Came(STATUS_OF_ALL, "5.14", "What's New in Cumulus Linux 5.14, new NVUE commands"),
            Came(COUNTERS_OF_ALL, "5.14", "What's New in Cumulus Linux 5.14, new NVUE commands"),
        ),
    ),
    channels=r"(?!swp\d|eth\d)[A-Za-z][A-Za-z0-9_.-]{0,14}",
    refusals=(_priorities_are_those_of_roce_mode, _one_class_is_lossless, _watchdog_counts_intervals),
    buffers=BUFFERS,
)
