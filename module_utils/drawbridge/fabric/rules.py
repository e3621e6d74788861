# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the fabric: one lossless class with the same mark and priority everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist, ports
from ..core.faults import Fault
from ..core.rules import doubled
from .model import Fabric


def dscp_lands_in_priority(fabric: Fabric) -> Iterator[Fault]:
    """NICs keep the default map, eight DSCPs a priority. Traffic whose DSCP maps elsewhere is never paused."""
    for name, part in (("roce", fabric.roce), ("cnp", fabric.cnp)):
        dscp, priority = part.dscp, part.priority
        if dscp >> 3 != priority:
            key = f"drawbridge_fabric.{name}"
            reason = f"{key}.dscp {dscp} lands in priority {dscp >> 3} on NICs that keep the default map"
            repair = f"set priority: {dscp >> 3}, or a dscp from {priority << 3} to {(priority << 3) + 7}"
            yield Fault(f"{key}.priority", priority, reason, repair)


def classes_differ(fabric: Fabric) -> Iterator[Fault]:
    """In the lossless class, the congestion that notifications report would pause them."""
    if fabric.roce.priority == fabric.cnp.priority:
        reason = "drawbridge_fabric.roce.priority is the same, and notifications must not be paused"
        repair = "give cnp a priority of its own, such as 6 with dscp 48"
        yield Fault("drawbridge_fabric.cnp.priority", fabric.cnp.priority, reason, repair)


def ecn_thresholds_in_order(fabric: Fabric) -> Iterator[Fault]:
    """Marking rises from min to max; switches take thresholds in units of 1000 bytes."""
    roce = fabric.roce
    if roce.ecn_min_bytes >= roce.ecn_max_bytes:
        reason = f"ecn_max_bytes is {roce.ecn_max_bytes}, and marking rises from min to max"
        repair = "set ecn_min_bytes below ecn_max_bytes"
        yield Fault("drawbridge_fabric.roce.ecn_min_bytes", roce.ecn_min_bytes, reason, repair)
    for name in ("ecn_min_bytes", "ecn_max_bytes"):
        value = getattr(roce, name)
        if value % 1000:
            reason = "switches count thresholds in units of 1000 bytes"
            repair = f"write {value // 1000 * 1000} or {value // 1000 * 1000 + 1000}"
            yield Fault(f"drawbridge_fabric.roce.{name}", value, reason, repair)


def mtu_fits(fabric: Fabric) -> Iterator[Fault]:
    """A RoCE frame is up to 20 bytes longer than the host's MTU; a switch drops frames longer than its own MTU."""
    key = "drawbridge_fabric.switch_mtu_bytes"
    if fabric.switch_mtu_bytes < fabric.host_mtu_bytes + 20:
        reason = f"host_mtu_bytes is {fabric.host_mtu_bytes}, and frames need 20 bytes more"
        repair = f"set switch_mtu_bytes to at least {fabric.host_mtu_bytes + 20}"
        yield Fault(key, fabric.switch_mtu_bytes, reason, repair)
    if any(kind.platform == "eos" for kind in fabric.switches) and fabric.switch_mtu_bytes > 9214:
        reason = "EOS takes at most 9214 on routed ports"
        yield Fault(key, fabric.switch_mtu_bytes, reason, "set switch_mtu_bytes: 9214")


def control_class_stays_free(fabric: Fabric) -> Iterator[Fault]:
    """EOS ties traffic class 7 and queue 7 to each other for its own control traffic."""
    if not any(kind.platform == "eos" for kind in fabric.switches):
        return
    for name, priority in (("roce", fabric.roce.priority), ("cnp", fabric.cnp.priority)):
        if priority == 7:
            repair = f"use 0 to 6, such as {'3 with dscp 26' if name == 'roce' else '6 with dscp 48'}"
            key = f"drawbridge_fabric.{name}.priority"
            yield Fault(key, priority, "EOS keeps class 7 for control traffic", repair)


def ports_can_exist(fabric: Fabric) -> Iterator[Fault]:
    """Every port once, every range forwards."""
    for index, kind in enumerate(fabric.switches):
        try:
            ports.expand(kind.ports)
        except ports.PortsError as err:
            key = f"drawbridge_fabric.switches[{index}].ports"
            yield Fault(key, kind.ports, str(err), "write ports such as Ethernet1-32, each once")


def watchdog_polls_often_enough(fabric: Fabric) -> Iterator[Fault]:
    """EOS replaces a polling interval that is above half of either time."""
    watchdog = fabric.watchdog
    shortest = min(watchdog.detect_ms, watchdog.restore_ms)
    if watchdog.poll_ms * 2 > shortest:
        reason = f"it is more than half of the shorter of detect_ms and restore_ms, {shortest}"
        repair = f"set poll_ms to at most {shortest // 2}"
        yield Fault("drawbridge_fabric.watchdog.poll_ms", watchdog.poll_ms, reason, repair)


def switches_are_listed_once(fabric: Fabric) -> Iterator[Fault]:
    """One switch, one kind."""
    names = [name for kind in fabric.switches for name in hostlist.expand(kind.names)]
    yield from doubled("drawbridge_fabric.switches", names, "name every switch in one entry")


RULES = (
    dscp_lands_in_priority,
    classes_differ,
    ecn_thresholds_in_order,
    mtu_fits,
    control_class_stays_free,
    ports_can_exist,
    watchdog_polls_often_enough,
    switches_are_listed_once,
)
