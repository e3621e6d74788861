# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the fabric: one lossless class with the same mark and priority everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..core import hostlist, ports
from ..core.faults import Fault
from ..core.rules import doubled
from .model import DCQCN, ROCE_BYTES, Fabric
from .nos.capabilities import BUFFERS, SUGGESTED, capabilities, classes
from .nos.systems import SYSTEMS


def classes_differ(fabric: Fabric) -> Iterator[Fault]:
    """Each class has a priority and a DSCP of its own: in one queue they would pause or delay each other."""
    found = classes(fabric)
    for at, (name, this) in enumerate(found):
        for other, earlier in found[:at]:
            if this.priority == earlier.priority:
                reason = f"drawbridge_fabric.{other}.priority is the same, and {CLASH[name]}"
                repair = f"give {name} a priority of its own, such as {SUGGESTED[name]}"
                yield Fault(f"drawbridge_fabric.{name}.priority", this.priority, reason, repair)
            if this.dscp == earlier.dscp:
                reason = f"drawbridge_fabric.{other}.dscp is the same, and switches could not tell the classes apart"
                repair = f"give {name} a DSCP of its own, such as {SUGGESTED[name]}"
                yield Fault(f"drawbridge_fabric.{name}.dscp", this.dscp, reason, repair)


CLASH = {"cnp": "notifications must not be paused", "storage": "the file system and GPUs would pause each other"}


def classes_share_the_link(fabric: Fabric) -> Iterator[Fault]:
    """Other traffic keeps a share: SSH, the API server, Slurm."""
    if fabric.storage and fabric.roce.bandwidth_percent + fabric.storage.bandwidth_percent > 99:
        left = 99 - fabric.roce.bandwidth_percent
        reason = f"with drawbridge_fabric.roce.bandwidth_percent {fabric.roce.bandwidth_percent} nothing is left"
        repair = f"set at most {left}, or a smaller share for roce"
        yield Fault("drawbridge_fabric.storage.bandwidth_percent", fabric.storage.bandwidth_percent, reason, repair)


def ecn_thresholds_in_order(fabric: Fabric) -> Iterator[Fault]:
    """Marking rises from min to max."""
    roce = fabric.roce
    if roce.ecn_min_bytes >= roce.ecn_max_bytes:
        reason = f"ecn_max_bytes is {roce.ecn_max_bytes}, and marking rises from min to max"
        repair = "set ecn_min_bytes below ecn_max_bytes"
        yield Fault("drawbridge_fabric.roce.ecn_min_bytes", roce.ecn_min_bytes, reason, repair)


def switches_alone_have_fitting_thresholds(fabric: Fabric) -> Iterator[Fault]:
    """Thresholds of some switches alone obey the rules that those of all switches obey."""
    for index, kind in enumerate(fabric.switches):
        key, roce = f"drawbridge_fabric.switches[{index}]", kind.marking(fabric.roce)
        if roce == fabric.roce:
            continue
        name = "ecn_min_bytes" if kind.ecn_min_bytes else "ecn_max_bytes"
        if roce.ecn_min_bytes >= roce.ecn_max_bytes:
            reason = f"these switches would mark from {roce.ecn_min_bytes} to {roce.ecn_max_bytes} bytes"
            repair = "set ecn_min_bytes below ecn_max_bytes"
            yield Fault(f"{key}.{name}", getattr(kind, name), reason, repair)
        own = replace(fabric, roce=roce, switches=(kind,))
        for fault in (fault for refusal in capabilities(kind.platform).refusals for fault in refusal(own)):
            name = fault.key.removeprefix("drawbridge_fabric.roce.")
            if name in THRESHOLDS and getattr(kind, name):
                yield replace(fault, key=f"{key}.{name}")


THRESHOLDS = ("ecn_min_bytes", "ecn_max_bytes")


def systems_have_these_buffers(fabric: Fabric) -> Iterator[Fault]:
    """Most systems divide their buffers themselves, or take a table from the site."""
    for index, kind in enumerate(fabric.switches):
        for name in BUFFERS:
            if (value := getattr(kind, name)) and name not in capabilities(kind.platform).buffers:
                reason = f"Drawbridge does not configure it on {kind.platform}"
                repair = f"remove {name}, and configure the buffers on the switch if they need it"
                yield Fault(f"drawbridge_fabric.switches[{index}].{name}", value, reason, repair)


def parameters_of_dcqcn_have_an_effect(fabric: Fabric) -> Iterator[Fault]:
    """Without DCQCN no flow obeys them."""
    if fabric.congestion_control != DCQCN:
        for name, value in fabric.dcqcn.rates.items():
            reason = f"congestion_control is {fabric.congestion_control}"
            yield Fault(f"drawbridge_fabric.dcqcn.{name}", value, reason, f"remove {name}, or set {CONTROL}: {DCQCN}")


CONTROL = "drawbridge_fabric.congestion_control"


def mtu_fits(fabric: Fabric) -> Iterator[Fault]:
    """A RoCE frame is longer than the host's MTU; a switch drops frames longer than its own MTU."""
    if fabric.switch_mtu_bytes < (least := fabric.host_mtu_bytes + ROCE_BYTES):
        reason = f"host_mtu_bytes is {fabric.host_mtu_bytes}, and frames need {ROCE_BYTES} bytes more"
        repair = f"set switch_mtu_bytes to at least {least}"
        yield Fault("drawbridge_fabric.switch_mtu_bytes", fabric.switch_mtu_bytes, reason, repair)


def systems_can_carry_it(fabric: Fabric) -> Iterator[Fault]:
    """What a system lacks is refused here, not found out on a switch."""
    for system in dict.fromkeys(kind.platform for kind in fabric.switches):
        can = capabilities(system)
        if fabric.switch_mtu_bytes > can.mtu_bytes:
            repair = f"set switch_mtu_bytes: {can.mtu_bytes}"
            yield Fault("drawbridge_fabric.switch_mtu_bytes", fabric.switch_mtu_bytes, can.mtu_reason, repair)
        for refusal in can.refusals:
            yield from refusal(fabric)


def systems_run_on_their_asics(fabric: Fabric) -> Iterator[Fault]:
    """The ASIC decides the names of queues and what can be configured."""
    for index, kind in enumerate(fabric.switches):
        asics = SYSTEMS[kind.platform]
        if kind.asic not in asics:
            reason = f"{kind.platform} does not run on it"
            others = f", or its chip: {', '.join(asics[1:])}" if asics[1:] else ""
            repair = f"write asic: {asics[0]}{others}"
            yield Fault(f"drawbridge_fabric.switches[{index}].asic", kind.asic, reason, repair)


def buffers_are_of_use(fabric: Fabric) -> Iterator[Fault]:
    """Where thresholds are bytes, the size of the buffer would change nothing."""
    for index, kind in enumerate(fabric.switches):
        if kind.queue_buffer_bytes and not capabilities(kind.platform).percent_of_buffer:
            key = f"drawbridge_fabric.switches[{index}].queue_buffer_bytes"
            yield Fault(key, kind.queue_buffer_bytes, f"{kind.platform} takes ECN thresholds in bytes", "remove it")


def ports_can_exist(fabric: Fabric) -> Iterator[Fault]:
    """Every port once, every range forwards, and only ports that carry traffic of nodes."""
    for index, kind in enumerate(fabric.switches):
        key = f"drawbridge_fabric.switches[{index}].ports"
        try:
            listed = ports.expand(kind.ports)
        except ports.PortsError as err:
            yield Fault(key, kind.ports, str(err), "write ports such as Ethernet1-32 or Ethernet1/1-64/1, each once")
            continue
        can = capabilities(kind.platform)
        if other := can.strange_ports(listed):
            reason = f"{other[0]} carries no traffic of nodes on {kind.platform}"
            yield Fault(key, kind.ports, reason, can.ports_repair)


def switches_are_listed_once(fabric: Fabric) -> Iterator[Fault]:
    """One switch, one kind."""
    names = [name for kind in fabric.switches for name in hostlist.expand(kind.names)]
    yield from doubled("drawbridge_fabric.switches", names, "name every switch in one entry")


RULES = (
    classes_differ,
    classes_share_the_link,
    ecn_thresholds_in_order,
    switches_alone_have_fitting_thresholds,
    systems_have_these_buffers,
    parameters_of_dcqcn_have_an_effect,
    mtu_fits,
    systems_can_carry_it,
    systems_run_on_their_asics,
    buffers_are_of_use,
    ports_can_exist,
    switches_are_listed_once,
)
