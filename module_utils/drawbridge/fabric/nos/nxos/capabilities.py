# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cisco NX-OS on Nexus 9000: what its queues, its watchdog and its default headroom can't carry."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.faults import Fault
from ...model import ROCE_BYTES, Fabric
from ..capabilities import SUGGESTED, Capabilities, capabilities, classes
from ..releases import Came, Releases

TWO_STAGES = "configure dual-stage"
REST, STRICT = 0, 7
"""The queue of all other traffic, and the one that a Nexus serves first: congestion notifications use it."""
POLL_MS = range(100, 1001)
MOST = {"detect_ms": 10, "restore_ms": 100}
"""The largest multiplier that the watchdog takes for each time."""
LEAST_MTU_BYTES, JUMBO_MTU_BYTES = 1500, 9216
"""A port of layer 2 takes these two alone: `system jumbomtu` is 9216."""
HEADROOM_M = 100
"""Length of cable for which a no-drop class has buffers by default."""


def _classes_have_queues_of_their_own(fabric: Fabric) -> Iterator[Fault]:
    for name, part in classes(fabric):
        if name != "cnp" and part.priority in (REST, STRICT):
            use = "all other traffic" if part.priority == REST else "congestion notifications"
            reason = f"on NX-OS queue {part.priority} is that of {use}"
            yield Fault(f"drawbridge_fabric.{name}.priority", part.priority, reason, f"use {SUGGESTED[name]}")


def _watchdog_counts_intervals(fabric: Fabric) -> Iterator[Fault]:
    """NX-OS has one interval; the times are multiples of it."""
    watchdog, key = fabric.watchdog, "drawbridge_fabric.watchdog."
    if watchdog.poll_ms not in POLL_MS:
        reason = f"NX-OS takes {POLL_MS[0]} to {POLL_MS[-1]}"
        yield Fault(f"{key}poll_ms", watchdog.poll_ms, reason, f"write poll_ms: {POLL_MS[0]}")
        return
    for name, most in MOST.items():
        value = getattr(watchdog, name)
        times, left = divmod(value, watchdog.poll_ms)
        if left or not 1 <= times <= most:
            reason = f"NX-OS counts 1 to {most} whole intervals of poll_ms, {watchdog.poll_ms}"
            repair = f"write {min(max(times, 1), most) * watchdog.poll_ms}"
            yield Fault(f"{key}{name}", value, reason, repair)


def _watchdog_drops(fabric: Fabric) -> Iterator[Fault]:
    if fabric.watchdog.action != "drop":
        reason = "the watchdog of NX-OS drops packets of a stuck queue"
        yield Fault("drawbridge_fabric.watchdog.action", fabric.watchdog.action, reason, "write action: drop")


def _mtu_is_one_of_network_qos(fabric: Fabric) -> Iterator[Fault]:
    if fabric.switch_mtu_bytes < LEAST_MTU_BYTES:
        reason = f"network-qos policies of NX-OS take at least {LEAST_MTU_BYTES}"
        repair = f"set switch_mtu_bytes: {LEAST_MTU_BYTES}"
        yield Fault("drawbridge_fabric.switch_mtu_bytes", fabric.switch_mtu_bytes, reason, repair)


def _vpcs_have_a_jumbo_mtu(fabric: Fabric) -> Iterator[Fault]:
    """Ports of a vPC and its peer link are of layer 2."""
    pairs = [pair for kind in fabric.switches if kind.platform == "nxos" for pair in kind.pairs]
    if pairs and fabric.switch_mtu_bytes not in (LEAST_MTU_BYTES, JUMBO_MTU_BYTES):
        reason = (
            f"ports of the vPC {pairs[0]} are of layer 2, where a Nexus takes {LEAST_MTU_BYTES} or {JUMBO_MTU_BYTES}"
        )
        all_take = min(capabilities(kind.platform).mtu_bytes for kind in fabric.switches) >= JUMBO_MTU_BYTES
        short = f"set switch_mtu_bytes: {LEAST_MTU_BYTES} and host_mtu_bytes: {LEAST_MTU_BYTES - ROCE_BYTES}"
        repair = f"set switch_mtu_bytes: {JUMBO_MTU_BYTES}" if all_take else f"{short}, or remove the pair"
        yield Fault("drawbridge_fabric.switch_mtu_bytes", fabric.switch_mtu_bytes, reason, repair)


def _cables_are_within_the_default_headroom(fabric: Fabric) -> Iterator[Fault]:
    if fabric.host_cable_m > HEADROOM_M:
        reason = f"Drawbridge leaves NX-OS its default headroom, which is for {HEADROOM_M} m"
        repair = f"use cables of at most {HEADROOM_M} m between nodes and a Nexus"
        yield Fault("drawbridge_fabric.host_cable_m", fabric.host_cable_m, reason, repair)


CAPABILITIES = Capabilities(
    ports=r"Ethernet\d+/\d+(/\d+)?",
    ports_repair="list ports such as Ethernet1/1-32, or Ethernet1/1/1-4 for breakout ports",
    mtu_bytes=JUMBO_MTU_BYTES,
    mtu_reason="NX-OS takes at most 9216",
    releases=Releases(
        system="NX-OS",
        line="show version",
        pattern=r"^ *(?:NXOS|system): +version (\S+)",
        oldest="9.3",
        newest="10.5",
        source="Cisco's configuration guides for Nexus 9000, NX-OS 9.3(x) and 10.5(x)",
        came=(Came(TWO_STAGES, "10.1", "Cisco, Nexus 9000 System Management, two-stage configuration commit"),),
    ),
    channels=r"port-channel\d+",
    refusals=(
        _classes_have_queues_of_their_own,
        _watchdog_counts_intervals,
        _watchdog_drops,
        _mtu_is_one_of_network_qos,
        _vpcs_have_a_jumbo_mtu,
        _cables_are_within_the_default_headroom,
    ),
)
