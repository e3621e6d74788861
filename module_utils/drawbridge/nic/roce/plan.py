# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the actual to the wanted RoCE settings of a node's RDMA devices: RDMA-CM's defaults and congestion control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.converge import Step
from ...nodes.gids import V2
from . import firmware
from .firmware import Firmware
from .places import CNP_DSCP, CNP_PRIORITY, DEBUGFS, FIRMWARE, OF_PRIORITY, OFED, POINTS, place, switched

KEPT = -1
"""A mark that Drawbridge does not set."""
MODE, TOS = "default_roce_mode", "default_roce_tos"


@dataclass(frozen=True)
class NicRoce:
    """One RDMA device, by its network device.

    `settings` are values by scope and name. The scope is a port for congestion control, "" for RDMA-CM's defaults.
    """

    rdma: str
    settings: dict[tuple[str, str], str]
    ports: tuple[str, ...] = field(default=(), compare=False)
    gid: int | None = field(default=None, compare=False)
    """The index of its RoCE v2 GID with an IPv4 address; None for none."""
    paths: dict[str, str] = field(default_factory=dict, compare=False)
    """Where the congestion control of each port is set; "" for nowhere."""
    pci: dict[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class NicRoces:
    """All RDMA devices of a node."""

    devices: dict[str, NicRoce]
    cm: bool = True
    """Whether the kernel has RDMA-CM's defaults, which come with the module rdma_cm."""
    carries: dict[str, int] = field(default_factory=dict, compare=False)
    """The network devices whose GID NCCL needs, each with the index that it must have; -1 for any."""
    firmware: dict[str, Firmware] = field(default_factory=dict)
    """Parameters of NIC firmware by port."""
    kept: str = field(default="", compare=False)
    """What a person must do before parameters may be set, for the goal; "" for nothing."""
    missing: dict[str, str] = field(default_factory=dict, compare=False)
    """What the host lacks for NCCL beside these settings, and what a person must do."""

    def lines(self) -> list[str]:
        """Each setting of each device."""
        cm = [] if self.cm else ["rdma_cm is not loaded"]
        parameters = [line for port, it in self.firmware.items() for line in it.lines(port)]
        return (
            cm
            + parameters
            + [
                " ".join(filter(None, [name, it.rdma, scope, f"{key}: {value}"]))
                for name, it in self.devices.items()
                for (scope, key), value in sorted(it.settings.items())
            ]
        )


@dataclass(frozen=True)
class Change:
    """A new value of one setting, or new parameters of a port's firmware; without both, the module rdma_cm."""

    netdev: str = ""
    scope: str = ""
    setting: str = ""
    value: str = ""
    firmware: dict[str, str] = field(default_factory=dict)


def wanted(
    groups: Iterable[Mapping[str, Any]], parameters: Iterable[Mapping[str, Any]] = (), kept: str = ""
) -> NicRoces:
    """The settings of all devices, from the module's groups. After a boot the node reads them from a file.

    Firmware has its `parameters` from the module alone, because it keeps them at a boot.
    """
    devices: dict[str, NicRoce] = {}
    carries: dict[str, int] = {}
    for group in groups:
        marks = {CNP_DSCP: group.get("cnp_dscp", KEPT), CNP_PRIORITY: group.get("cnp_priority", KEPT)}
        own = {key: str(value) for key, value in marks.items() if value != KEPT}
        for priority in group["ecn_priorities"]:
            enabled = str(int(group.get("ecn_enabled", True)))
            own.update({f"{point}{OF_PRIORITY}{priority}": enabled for point in POINTS})
        own.update({rate["name"]: str(rate["value"]) for rate in group.get("rates") or ()})
        for device in group["devices"]:
            settings = {("", MODE): V2, ("", TOS): str(group["tos"])} if group["tos"] != KEPT else {}
            settings.update({(port, key): value for port in device["ports"] for key, value in own.items()})
            devices[device["netdev"]] = NicRoce(device["rdma"], settings, tuple(device["ports"]))
            if group["needs_gid"]:
                carries[device["netdev"]] = int(group.get("gid_index", -1))
    return NicRoces(devices, carries=carries, firmware=firmware.wanted(parameters), kept=kept)


def plan(have: NicRoces, want: NicRoces) -> list[Step[NicRoces]]:
    """Steps in the order of the devices. None disturbs a job: new connections and new CNPs use the new values."""
    steps: list[Step[NicRoces]] = []
    if not have.cm:
        steps.append(Step("load the module rdma_cm", lambda state: replace(state, cm=True), Change()))
    for netdev, goal in want.devices.items():
        found = have.devices[netdev]
        for (scope, setting), value in goal.settings.items():
            if found.settings.get((scope, setting), value if _optional(found, scope, setting) else "") != value:
                steps.append(_step(netdev, scope, setting, found, value))
        if netdev in want.carries and found.gid is None:
            pending = f"give {netdev} an IPv4 address"
            steps.append(Step(f"{netdev}: have a RoCE v2 GID with an IPv4 address, for NCCL", _same, pending=pending))
        elif (index := want.carries.get(netdev, -1)) not in (-1, found.gid):
            refused = (
                f"nccl_gid_index is {index}, but {netdev} has its RoCE v2 GID with an IPv4 address at {found.gid};"
            )
            steps.append(Step(f"{netdev}: have this GID at index {index}", _same, refused=f"{refused} {MOVE}"))
        if found.rdma != goal.rdma:
            steps.append(Step(f"{netdev}: find RDMA device {goal.rdma}", _same, refused=_renamed(netdev, found, goal)))
    steps += [Step(reason, _same, pending=repair) for reason, repair in have.missing.items()]
    return steps + [step for port in want.firmware for step in _firmware(port, have.firmware[port], want)]


def _firmware(port: str, have: Firmware, want: NicRoces) -> list[Step[NicRoces]]:
    """Set what differs at the next boot, if that is allowed, and report the parameters that are not in effect yet."""
    goal = want.firmware[port]
    steps = [
        Step(f"{port}: set {name}={value}", _same, pending=f"its firmware has no {name}; {ADVANCED}")
        for name, (value, _unused) in goal.values.items()
        if name not in have.values
    ]
    if changes := firmware.differences(have, goal, 1):

        def applied(state: NicRoces) -> NicRoces:
            return replace(state, firmware={**state.firmware, port: state.firmware[port].after(changes)})

        change = Change(scope=port, firmware=changes)
        steps.append(Step(f"{port}: set {firmware.said(changes)} in its firmware", applied, change, pending=want.kept))
    if changes := firmware.differences(have, goal, 0):
        reason = f"{port}: put {firmware.said(changes)} into effect"
        steps.append(Step(reason, _same, pending="boot the node when it is drained"))
    return steps


ADVANCED = "set ADVANCED_PCI_SETTINGS=1 too and boot the node, or remove it from nics.firmware"
"""Firmware lists some parameters only with this one."""


MOVE = "correct it in drawbridge_nodes, or add the addresses of the rails in the same order"


def _same(state: NicRoces) -> NicRoces:
    return state


def _optional(found: NicRoce, scope: str, setting: str) -> bool:
    """Whether the port's path lacks this setting: only OFED has a switch for each priority."""
    return scope != "" and switched(setting) and found.paths[scope] != OFED


def _step(netdev: str, scope: str, setting: str, found: NicRoce, value: str) -> Step[NicRoces]:
    def applied(state: NicRoces) -> NicRoces:
        device = state.devices[netdev]
        changed = replace(device, settings={**device.settings, (scope, setting): value})
        return replace(state, devices={**state.devices, netdev: changed})

    old = found.settings.get((scope, setting), "unknown")
    reason = f"{scope or netdev}: set {setting} to {value}, not {old}"
    step = Step(reason, applied, Change(netdev, scope, setting, value), about=f"{scope or netdev} {setting}")
    return replace(step, refused=_unreachable(scope, setting, found, value)) if scope else step


def _unreachable(port: str, setting: str, found: NicRoce, value: str) -> str:
    """Why no path of the port can set it; empty if one can."""
    if found.paths[port] in (OFED, DEBUGFS):
        return ""
    name, value_now = place(FIRMWARE, setting), found.settings.get((port, setting))
    said = f"its firmware has {value_now}" if found.paths[port] and value_now else "its firmware says nothing"
    return (
        f"{port} must have {setting} {value}, but its driver has neither ecn nor cc_params, and {said};"
        f" run mlxconfig -d {found.pci[port]} set {name}={value} and boot the node"
    )


def _renamed(netdev: str, found: NicRoce, goal: NicRoce) -> str:
    return (
        f"nics.rdma has {goal.rdma}, but the RDMA device of {netdev} is {found.rdma or 'missing'};"
        " correct nics.rdma in drawbridge_nodes, or keep the kernel's names by a udev rule"
    )
