# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the fabric: one lossless class with the same mark and priority everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist, ports
from ..core.faults import Fault
from ..core.rules import doubled
from .model import Fabric


def classes_differ(fabric: Fabric) -> Iterator[Fault]:
    """Each class has a priority and a DSCP of its own: in one queue they would pause or delay each other."""
    storage = [("storage", fabric.storage)] if fabric.storage else []
    classes = [("roce", fabric.roce), ("cnp", fabric.cnp), *storage]
    for at, (name, this) in enumerate(classes):
        for other, earlier in classes[:at]:
            if this.priority == earlier.priority:
                reason = f"drawbridge_fabric.{other}.priority is the same, and {CLASH[name]}"
                repair = f"give {name} a priority of its own, such as {SUGGESTED[name]}"
                yield Fault(f"drawbridge_fabric.{name}.priority", this.priority, reason, repair)
            if this.dscp == earlier.dscp:
                reason = f"drawbridge_fabric.{other}.dscp is the same, and switches could not tell the classes apart"
                repair = f"give {name} a DSCP of its own, such as {SUGGESTED[name]}"
                yield Fault(f"drawbridge_fabric.{name}.dscp", this.dscp, reason, repair)


CLASH = {"cnp": "notifications must not be paused", "storage": "the file system and GPUs would pause each other"}
SUGGESTED = {"cnp": "6 with dscp 48", "storage": "4 with dscp 34"}


def classes_share_the_link(fabric: Fabric) -> Iterator[Fault]:
    """Other traffic keeps a share: SSH, the API server, Slurm."""
    if fabric.storage and fabric.roce.bandwidth_percent + fabric.storage.bandwidth_percent > 99:
        left = 99 - fabric.roce.bandwidth_percent
        reason = f"with drawbridge_fabric.roce.bandwidth_percent {fabric.roce.bandwidth_percent} nothing is left"
        repair = f"set at most {left}, or a smaller share for roce"
        yield Fault("drawbridge_fabric.storage.bandwidth_percent", fabric.storage.bandwidth_percent, reason, repair)


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
    storage = [("storage", fabric.storage.priority)] if fabric.storage else []
    for name, priority in (("roce", fabric.roce.priority), ("cnp", fabric.cnp.priority), *storage):
        if priority == 7:
            repair = f"use 0 to 6, such as {SUGGESTED.get(name, '3 with dscp 26')}"
            key = f"drawbridge_fabric.{name}.priority"
            yield Fault(key, priority, "EOS keeps class 7 for control traffic", repair)


def ports_can_exist(fabric: Fabric) -> Iterator[Fault]:
    """Every port once, every range forwards, and only ports that carry traffic of nodes."""
    for index, kind in enumerate(fabric.switches):
        key = f"drawbridge_fabric.switches[{index}].ports"
        try:
            listed = ports.expand(kind.ports)
        except ports.PortsError as err:
            yield Fault(key, kind.ports, str(err), "write ports such as Ethernet1-32 or Ethernet1/1-64/1, each once")
            continue
        carrying = CARRYING[kind.platform]
        if other := [port for port in listed if not port.startswith(carrying)]:
            reason = f"{other[0]} carries no traffic of nodes on {kind.platform}"
            yield Fault(key, kind.ports, reason, f"list ports that begin with {' or '.join(carrying)}")


CARRYING = {"eos": ("Ethernet",)}
"""How names of ports begin, by system."""


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
    classes_differ,
    classes_share_the_link,
    ecn_thresholds_in_order,
    mtu_fits,
    control_class_stays_free,
    ports_can_exist,
    watchdog_polls_often_enough,
    switches_are_listed_once,
)
