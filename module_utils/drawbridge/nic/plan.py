# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the actual to the wanted QoS of a node's RDMA ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.consent import Consent
from ..core.converge import Step
from .queues import NEW_MAP, ONE_CLASS, PRIORITIES, Queues, ets_options, own_classes, shared, shares


@dataclass(frozen=True)
class NicPortQos:
    """The part of a port's QoS that Drawbridge owns. What driver and tool can do does not count for equality."""

    trust: str
    dscp_priority: dict[int, int]
    lossless: frozenset[int]
    dcbx: str = "os"
    queues: Queues = ()
    """Empty if Drawbridge keeps them."""
    cable_m: int = 0
    """The cable's length in metres, from which the driver sizes headroom; 0 if Drawbridge keeps it."""
    up: bool = field(default=True, compare=False)
    """The link's state."""
    ice: bool = field(default=False, compare=False)
    """The driver is ice. With a DSCP map each priority has the class of its own number. Each change takes the link
    down, and the cable's length has no effect."""
    bnxt: bool = field(default=False, compare=False)
    """The driver is bnxt_en. A change of shares may take the link down, and the cable's length has no effect."""
    maps_with_trust: bool = field(default=False, compare=False)
    """Its tool sets the wanted map in the command that makes the port trust DSCP."""


@dataclass(frozen=True)
class NicQos:
    """All RDMA ports of a node, by network device."""

    ports: dict[str, NicPortQos]

    def lines(self) -> list[str]:
        """Each port as options of mlnx_qos."""
        return [f"-i {name} {option}" for name, port in self.ports.items() for option in _options(port)]


@dataclass(frozen=True)
class Change:
    """Options of mlnx_qos for one port, and whether they bounce its link or move traffic of a link that is up."""

    interface: str
    options: tuple[str, ...]
    flaps: bool = False
    moves: bool = False


def wanted(groups: Iterable[Mapping[str, Any]]) -> NicQos:
    """The QoS of all ports, from the module's groups. After a boot the node reads them from a file."""
    ports: dict[str, NicPortQos] = {}
    for group in groups:
        mapping = sorted((int(entry["dscp"]), int(entry["priority"])) for entry in group["dscp_priorities"])
        lossless = frozenset(map(int, group["lossless_priorities"]))
        queues = shared({int(it["priority"]): int(it["percent"]) for it in group.get("bandwidth") or ()})
        port = NicPortQos("dscp", dict(mapping), lossless, queues=queues, cable_m=int(group.get("cable_m") or 0))
        ports.update((interface, port) for interface in group["interfaces"])
    return NicQos(ports)


def plan(have: NicQos, want: NicQos) -> list[Step[NicQos]]:
    """Steps in passes over all ports: DCBX, trust, map, cable, shares, PFC.

    DCBX is first, because firmware that controls it can undo the rest. Trust comes before the map: the first entry of
    an empty map would switch to DSCP trust with 63 DSCPs still in priority 0. A map is changed entry by entry, because
    a flush falls back to PCP under traffic. PFC is last: on a port that still trusts PCP it would pause the wrong
    traffic, and bnxt refuses it before the shares. It is the only change that bounces a link. The others but DCBX move
    live traffic to another priority or queue, or resize its buffer, so they wait for jobs too. With ice all changes
    bounce the link, with bnxt also those of shares.
    """
    steps: list[Step[NicQos]] = []
    state = have
    for stage in (_dcbx, _trust, _map, _cable, _queues, _pfc):
        for interface, port in want.ports.items():
            goal = _reachable(port, have.ports[interface])
            for step in stage(interface, state.ports[interface], goal):
                steps.append(step)
                state = step.becomes(state)
    changed = "QoS" if any(step.payload.flaps and step.payload.options[0] != "--pfc" for step in steps) else "PFC"
    consent = Consent(
        "may_flap_links",
        f"may_flap_links is false, but a change of {changed} bounces the link of {', '.join(flapping(steps))};"
        " drain this host's jobs and set",
    )
    consented = [replace(step, consent=consent) if step.payload.flaps else step for step in steps]
    return [replace(step, disturbs=step.payload.moves or step.payload.flaps) for step in consented]


def flapping(steps: Sequence[Step[NicQos]]) -> list[str]:
    """Ports whose link the steps bounce."""
    return list(dict.fromkeys(step.payload.interface for step in steps if step.payload.flaps))


def _reachable(want: NicPortQos, have: NicPortQos) -> NicPortQos:
    """What the port's driver can have of the wanted values: the same lossless priorities and shares."""
    cable_m = have.cable_m if have.ice or have.bnxt else want.cable_m
    queues = own_classes(want.queues) if have.ice and want.queues else want.queues
    return replace(want, queues=queues, cable_m=cable_m)


def _moving(interface: str, options: tuple[str, ...], have: NicPortQos) -> Change:
    """A change that moves live traffic; with ice it also bounces the link."""
    return Change(interface, options, flaps=have.up and have.ice, moves=have.up)


def _dcbx(interface: str, have: NicPortQos, want: NicPortQos) -> list[Step[NicQos]]:
    if have.dcbx == want.dcbx:
        return []
    reason = "let the operating system control DCBX, not the firmware"
    if have.ice:  # without the firmware's agent the driver begins anew
        fresh = {"lossless": frozenset(), "queues": ONE_CLASS if want.queues else ()}
        return [_step(reason, _moving(interface, ("-d", want.dcbx), have), dcbx=want.dcbx, **fresh)]
    return [_step(reason, Change(interface, ("-d", want.dcbx)), dcbx=want.dcbx)]


def _trust(interface: str, have: NicPortQos, want: NicPortQos) -> list[Step[NicQos]]:
    if have.trust == want.trust:
        return []
    # mlnx_qos makes the driver set its own map, eight DSCPs a priority
    mapped = want.dscp_priority if have.maps_with_trust else {dscp: dscp >> 3 for dscp in sorted(want.dscp_priority)}
    change = _moving(interface, ("--trust", want.trust), have)
    queues = NEW_MAP if have.ice and want.queues else have.queues
    reason = f"trust {want.trust}, not {have.trust}"
    return [_step(reason, change, trust=want.trust, dscp_priority=mapped, queues=queues)]


def _map(interface: str, have: NicPortQos, want: NicPortQos) -> list[Step[NicQos]]:
    steps = []
    old = have.dscp_priority
    mapped = dict(old)
    for dscp, priority in want.dscp_priority.items():
        if mapped.get(dscp) != priority:
            mapped = dict(sorted({**mapped, dscp: priority}.items()))
            change = _moving(interface, ("--dscp2prio", f"set,{dscp},{priority}"), have)
            reason = f"put DSCP {dscp} into priority {priority}, not {old.get(dscp, 'none')}"
            steps.append(_step(reason, change, dscp_priority=mapped))
    return steps


def _cable(interface: str, have: NicPortQos, want: NicPortQos) -> list[Step[NicQos]]:
    if have.cable_m == want.cable_m:
        return []
    change = Change(interface, ("--cable_len", str(want.cable_m)), moves=have.up)
    return [_step(f"size buffers for {want.cable_m} m of cable, not {have.cable_m}", change, cable_m=want.cable_m)]


def _queues(interface: str, have: NicPortQos, want: NicPortQos) -> list[Step[NicQos]]:
    if have.queues == want.queues:
        return []
    change = _moving(interface, ets_options(want.queues), have)
    change = replace(change, flaps=change.flaps or (have.up and have.bnxt))
    reason = f"share the link: {shares(want.queues)}, not {shares(have.queues)}"
    return [_step(reason, change, queues=want.queues)]


def _pfc(interface: str, have: NicPortQos, want: NicPortQos) -> list[Step[NicQos]]:
    if have.lossless == want.lossless:
        return []
    change = Change(interface, ("--pfc", mask(want.lossless)), flaps=have.up)
    goal, old = (", ".join(map(str, sorted(it))) for it in (want.lossless, have.lossless))
    reason = f"make priority {goal} lossless, not {old or 'none'}" if goal else f"make no priority lossless, not {old}"
    return [_step(reason, change, lossless=want.lossless)]


def _step(reason: str, change: Change, **becomes: Any) -> Step[NicQos]:
    def applied(state: NicQos) -> NicQos:
        port = replace(state.ports[change.interface], **becomes)
        return NicQos({**state.ports, change.interface: port})

    return Step(f"{change.interface}: {reason}", applied, change, about=f"{change.interface} {change.options}")


def mask(lossless: Iterable[int]) -> str:
    """Priorities as the argument of --pfc: one bit each, from 0 to 7."""
    wanted = set(lossless)
    return ",".join("1" if priority in wanted else "0" for priority in PRIORITIES)


def _options(port: NicPortQos) -> list[str]:
    mapping = [f"--dscp2prio set,{dscp},{priority}" for dscp, priority in port.dscp_priority.items()]
    queues = [" ".join(ets_options(port.queues))] if port.queues else []
    cable = [f"--cable_len {port.cable_m}"] if port.cable_m else []
    return [f"-d {port.dcbx}", f"--trust {port.trust}", *mapping, *cable, *queues, f"--pfc {mask(port.lossless)}"]
