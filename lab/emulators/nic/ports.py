# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The RDMA ports of a host and the driver of each, as sysfs names it: ice, or else mlx5."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..common import boot_id, sysfs
from .driver import KEPT, NO_DEVICE, NOT_SUPPORTED, Driver, NetlinkError, factory
from .ice import Ice, ice_factory

if TYPE_CHECKING:
    from collections.abc import Callable

RAIL = re.compile(r"(rail|stor)[0-7]")
MLX5, ICE = "mlx5_core", "ice"
FACTORIES: dict[str, Callable[[], dict[str, Any]]] = {MLX5: factory, ICE: ice_factory}
DRIVERS: dict[str, type[Driver]] = {MLX5: Driver, ICE: Ice}
OVER_A_BOOT = {MLX5: ("link_flaps",), ICE: ("link_flaps", "dcbx", "ets_cap")}
OVER_A_RELOAD = {MLX5: KEPT, ICE: OVER_A_BOOT[ICE]}


def driver_name(interface: str) -> str:
    """Return the name of a port's driver."""
    link = sysfs() / "class/net" / interface / "device/driver"
    return link.readlink().name if link.is_symlink() else MLX5


def reloaded(port: dict[str, Any]) -> dict[str, Any]:
    """Return a port after a reload of its driver."""
    return _anew(port, OVER_A_RELOAD)


def port_of(state: dict[str, Any], interface: str) -> dict[str, Any]:
    """Return a rail's port; its registers are at factory values after each boot. Raise for what has no DCB."""
    if not (sysfs() / "class/net" / interface).exists():
        raise NetlinkError(NO_DEVICE)
    if interface not in state.get("rails", []) and not RAIL.fullmatch(interface):
        raise NetlinkError(NOT_SUPPORTED)
    boot = boot_id()
    if state.get("boot_id") != boot:
        for port in state.setdefault("ports", {}).values():
            port.update(_anew(port, OVER_A_BOOT))
        state["boot_id"] = boot
    name = driver_name(interface)
    if state["ports"].get(interface, {}).get("driver", MLX5) != name:  # another NIC
        state["ports"].pop(interface, None)
    return state["ports"].setdefault(interface, {**FACTORIES[name](), "driver": name})


def driver_of(port: dict[str, Any], *, privileged: bool) -> Driver:
    """Return the driver of a port."""
    return DRIVERS[port.get("driver", MLX5)](port, privileged=privileged)


def _anew(port: dict[str, Any], kept: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    name = port.get("driver", MLX5)
    return {**FACTORIES[name](), **{key: port[key] for key in kept[name] if key in port}}
