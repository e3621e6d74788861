# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Arista EOS: what it can't carry."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.faults import Fault
from ...model import Fabric
from ..capabilities import SUGGESTED, Capabilities, classes
from ..releases import Releases

OTHERS_POLL_MS = 100
"""The shortest polling interval of other systems. One interval is for all switches."""


def _control_class_stays_free(fabric: Fabric) -> Iterator[Fault]:
    """EOS ties traffic class 7 and queue 7 to each other for its own control traffic."""
    for name, part in classes(fabric):
        if part.priority == 7:
            key = f"drawbridge_fabric.{name}.priority"
            yield Fault(key, 7, "EOS keeps class 7 for control traffic", f"use 0 to 6, such as {SUGGESTED[name]}")


def _thresholds_are_kilobytes(fabric: Fabric) -> Iterator[Fault]:
    for name in ("ecn_min_bytes", "ecn_max_bytes"):
        value = getattr(fabric.roce, name)
        if value % 1000:
            repair = f"write {value // 1000 * 1000} or {value // 1000 * 1000 + 1000}"
            reason = "EOS counts thresholds in units of 1000 bytes"
            yield Fault(f"drawbridge_fabric.roce.{name}", value, reason, repair)


def _watchdog_polls_often_enough(fabric: Fabric) -> Iterator[Fault]:
    """EOS replaces a polling interval that is above half of either time."""
    watchdog = fabric.watchdog
    shortest = min(watchdog.detect_ms, watchdog.restore_ms)
    if watchdog.poll_ms * 2 > shortest:
        reason = f"on EOS it must not be more than half of the shorter of detect_ms and restore_ms, {shortest}"
        slow = shortest // 2 < OTHERS_POLL_MS and any(kind.platform != "eos" for kind in fabric.switches)
        longer = f"set detect_ms and restore_ms to at least {2 * max(watchdog.poll_ms, OTHERS_POLL_MS)}"
        repair = longer if slow else f"set poll_ms to at most {shortest // 2}"
        yield Fault("drawbridge_fabric.watchdog.poll_ms", watchdog.poll_ms, reason, repair)


CAPABILITIES = Capabilities(
    ports=r"Ethernet[\d/]+",
    ports_repair="list ports that begin with Ethernet",
    mtu_bytes=9214,
    mtu_reason="EOS takes at most 9214 on routed ports",
    releases=Releases(
        system="EOS",
        line="show version",
        pattern=r"^Software image version: (\S+)",
        oldest="4.31",
        newest="4.36",
        source="Arista's EOS User Manual of 4.31 and 4.36, and public captures of 4.35 and 4.36",
    ),
    no_hash=("jericho",),
    channels=r"Port-Channel\d+",
    refusals=(_control_class_stays_free, _thresholds_are_kilobytes, _watchdog_polls_often_enough),
)
