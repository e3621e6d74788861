# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dell SmartFabric OS10: what it can't carry."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.faults import Fault
from ...model import Fabric
from ..capabilities import SUGGESTED, Capabilities, classes
from ..releases import Releases

REST = 0
"""The qos-group and queue of all other traffic: OS10 puts there what no map names."""


def _class_is_apart_from_the_rest(fabric: Fabric) -> Iterator[Fault]:
    for name, part in classes(fabric):
        if part.priority == REST:
            key = f"drawbridge_fabric.{name}.priority"
            yield Fault(key, REST, "OS10 puts all other traffic there", f"use 1 to 7, such as {SUGGESTED[name]}")


def _thresholds_are_kilobytes(fabric: Fabric) -> Iterator[Fault]:
    for name in ("ecn_min_bytes", "ecn_max_bytes"):
        value = getattr(fabric.roce, name)
        if value % 1000:
            repair = f"write {value // 1000 * 1000} or {value // 1000 * 1000 + 1000}"
            reason = "OS10 counts thresholds in kilobytes"
            yield Fault(f"drawbridge_fabric.roce.{name}", value, reason, repair)


CAPABILITIES = Capabilities(
    ports=r"ethernet\d+/\d+/\d+(:\d+)?",
    ports_repair="list ports such as ethernet1/1/1-1/1/32, or ethernet1/1/1:1-4 for breakout ports",
    mtu_bytes=9216,
    mtu_reason="OS10 switches take at most 9216",
    releases=Releases(
        system="OS10",
        line="show version",
        pattern=r"^OS Version: (\S+)",
        oldest="10.5",
        newest="10.5",
        source="Dell's SmartFabric OS10 User Guide, 10.5",
    ),
    channels=r"port-channel\d+",
    refusals=(_class_is_apart_from_the_rest, _thresholds_are_kilobytes),
    lacks=("Drawbridge configures no PFC watchdog on OS10; drawbridge_fabric.watchdog has no effect there",),
)
