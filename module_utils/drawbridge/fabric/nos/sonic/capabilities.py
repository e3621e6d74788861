# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC: what its YANG models and Drawbridge's maps can't carry."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.faults import Fault
from ...model import Fabric
from ..capabilities import SUGGESTED, Capabilities, classes
from ..releases import Came, Releases

MARKS, PEAKS_AS_JSON = "show queue wredcounters", "show queue watermark unicast --json"
REST = 0
"""The traffic class, queue and priority group of all other traffic."""
LEAST_POLL_MS = 100


def _all_other_traffic_has_its_own_class(fabric: Fabric) -> Iterator[Fault]:
    """Every DSCP without a class of its own goes to traffic class 0."""
    for name, part in classes(fabric):
        if part.priority == REST:
            reason, repair = "on SONiC all other traffic is there", f"use {SUGGESTED[name]}"
            yield Fault(f"drawbridge_fabric.{name}.priority", part.priority, reason, repair)


def _watchdog_is_no_faster_than_its_polls(fabric: Fabric) -> Iterator[Fault]:
    """SONiC's YANG model: POLL_INTERVAL is 100 to 1000, and both times are at least as long."""
    watchdog = fabric.watchdog
    if watchdog.poll_ms < LEAST_POLL_MS:
        reason, repair = f"SONiC polls every {LEAST_POLL_MS} ms at most", f"write poll_ms: {LEAST_POLL_MS}"
        yield Fault("drawbridge_fabric.watchdog.poll_ms", watchdog.poll_ms, reason, repair)
    for key in ("detect_ms", "restore_ms"):
        if (value := getattr(watchdog, key)) < watchdog.poll_ms:
            reason = f"SONiC's watchdog polls every poll_ms, {watchdog.poll_ms}"
            yield Fault(f"drawbridge_fabric.watchdog.{key}", value, reason, f"write at least {watchdog.poll_ms}")


CAPABILITIES = Capabilities(
    ports=r"Ethernet\d+",
    ports_repair="list ports as ConfigDB names them, such as Ethernet0-248:8 for every eighth",
    mtu_bytes=9216,
    mtu_reason="SONiC takes at most 9216",
    releases=Releases(
        system="SONiC",
        line="cat /etc/sonic/sonic_version.yml",
        pattern=r"^build_version: *['\"]?([^'\"\s]+)",
        oldest="202405",
        newest="202511",
        source="sonic-utilities and sonic-yang-models, branches 202405, 202411, 202505 and 202511",
        came=(
            Came(MARKS, "202505", "sonic-utilities, show/main.py: not in branch 202411"),
            Came(PEAKS_AS_JSON, "202511", "sonic-utilities, scripts/watermarkstat: not in branch 202505"),
        ),
        counted=r"20\d{4}",
    ),
    channels=r"PortChannel\d+",
    refusals=(_all_other_traffic_has_its_own_class, _watchdog_is_no_faster_than_its_polls),
)
