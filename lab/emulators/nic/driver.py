# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""RDMA ports as their drivers show them by DCB (after Linux 6.12): mlx5, Intel's ice and Broadcom's bnxt.

A port is a dict in the device's state. sysfs names its driver. Each method of `Driver` is one request to the kernel: it
happens as a whole or raises, and several of them never form a transaction.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from ..common import boot_id, sysfs

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_METRES = 1000
TOTAL_BUFFER = 262016
"""Receive buffer of the port in bytes; this and the next two: captured, mlx5-like port, Linux 6.12."""
LOSSY_BUFFER = 20016
LOSSLESS_BUFFER = 156096


class NetlinkError(OSError):
    """The kernel's refusal; its text is what the tool prints."""


NOT_PERMITTED = "Netlink error: Operation not permitted (1)"
NOT_SUPPORTED = "Netlink error: Operation not supported (95)"
NO_DEVICE = "Netlink error: No such device (19)"
NO_ENTRY = "Netlink error: No such file or directory (2)"
EXISTS = "Netlink error: File exists (17)"
BAD_VALUE = "Netlink error: Bad value. see dmesg."


def factory() -> dict[str, Any]:
    """Return a port as the driver leaves it at boot: TC 0 and 1 are swapped, and nothing is lossless."""
    return {
        "dcbx": "os",
        "apps": [],
        "dscp2prio": [dscp >> 3 for dscp in range(64)],
        "pfc": [0] * 8,
        "cable_len": 7,
        "prio2buffer": [0] * 8,
        "buffer_size": [TOTAL_BUFFER] + [0] * 7,
        "prio_tc": [1, 0, 2, 3, 4, 5, 6, 7],
        "tsa": ["vendor"] * 8,
        "tcbw": [0] * 8,
        "ratelimit": [0] * 8,
        "link_flaps": 0,
    }


KEPT = ("apps", "dscp2prio", "pfc", "dcbx", "prio2buffer", "buffer_size", "link_flaps")
"""What the port's registers hold, so that the driver finds it again: it reads trust and map, and sets shares anew."""


class Driver:
    """Requests to one port's driver; `history` has the port after each of them, for a caller that dies half-way."""

    def __init__(self, port: dict[str, Any], *, privileged: bool) -> None:
        """Take the port to change, and whether the caller has CAP_NET_ADMIN."""
        self.port = port
        self.privileged = privileged
        self.history: list[dict[str, Any]] = []

    def set_dcbx(self, mode: str) -> None:
        """Give DCBX to the operating system ("os") or to the firmware ("fw")."""
        self._request(dcbx=mode)

    def set_pfc(self, mask: list[int]) -> None:
        """Set which priorities are lossless; a mask that differs bounces the link."""
        changed = mask != self.port["pfc"]
        self._request(
            **({"pfc": mask, "link_flaps": self.port["link_flaps"] + 1, **_sized_buffers(mask)} if changed else {})
        )

    def set_cable(self, metres: int) -> None:
        """Set the cable's length, from which the driver sizes headroom; it silently ignores 0 and 1000 or more."""
        self._request(**({"cable_len": metres} if 0 < metres < MOST_METRES else {}))

    def set_ets(self, **changes: list[int] | list[str]) -> None:
        """Set `prio_tc`, `tsa` and `tcbw` in one request; shares of ETS classes must sum to 100."""
        after = {**self.port, **changes}
        shares = [share for at, share in enumerate(after["tcbw"]) if after["tsa"][at] == "ets"]
        if shares and sum(shares) != 100:
            raise NetlinkError(BAD_VALUE)
        self._request(**changes)

    def set_app(self, dscp: int, priority: int) -> None:
        """Map a DSCP to a priority; the first entry makes the port trust DSCP. New entries head the kernel's list."""
        self._request(
            apps=[[dscp, priority], *(app for app in self.port["apps"] if app[0] != dscp)],
            dscp2prio=_with(self.port["dscp2prio"], dscp, priority),
        )

    def del_app(self, dscp: int, priority: int) -> None:
        """Delete an entry: the DSCP falls to priority 0, and with the last entry the port trusts PCP again."""
        if [dscp, priority] not in self.port["apps"]:
            raise NetlinkError(NO_ENTRY)
        self._request(
            apps=[app for app in self.port["apps"] if app[0] != dscp],
            dscp2prio=_with(self.port["dscp2prio"], dscp, 0),
        )

    def _need_host(self) -> None:
        if self.port["dcbx"] == "fw":
            raise NetlinkError(BAD_VALUE)

    def _request(self, **changes: Any) -> None:
        if not self.privileged:
            raise NetlinkError(NOT_PERMITTED)
        self.port.update(changes)
        self.history.append(copy.deepcopy(self.port))


def _sized_buffers(mask: list[int]) -> dict[str, Any]:
    """Return the buffers as the driver sizes them: lossless priorities share buffer 1, all others buffer 0."""
    sizes = [LOSSY_BUFFER, LOSSLESS_BUFFER] if any(mask) else [TOTAL_BUFFER, 0]
    return {"prio2buffer": list(mask), "buffer_size": sizes + [0] * 6}


def _with(values: list[int], index: int, value: int) -> list[int]:
    return [*values[:index], value, *values[index + 1 :]]


CLASSES = 8
"""A card with more than four functions gives each port four, and no RDMA; `ets_cap` of a port says so."""
REFUSED_MODE = "Netlink error: Unknown error -1"
ONE_CLASS: dict[str, Any] = {
    "prio_tc": [0] * 8,
    "tsa": ["ets", *["strict"] * 7],
    "tcbw": [100, *[0] * 7],
    "pfc": [0] * 8,
}
"""Without a DSCP entry. The driver begins so, too."""


def ice_factory() -> dict[str, Any]:
    """Return a port after a boot. Its firmware's LLDP agent runs until a person stops it, and stays stopped."""
    return {**factory(), **ONE_CLASS, "dcbx": "fw", "buffers": False}


class Ice(Driver):
    """A port of Intel's E810.

    The first DSCP entry turns the port to DSCP mode. Each priority then gets the class of its own number, and class 0
    all of the link. From then on the driver silently ignores other classes of priorities. When the last entry goes, all
    priorities are in class 0, and PFC is off. While the firmware's LLDP agent runs, the driver refuses all settings.
    Each change closes and opens the port.
    """

    def set_dcbx(self, mode: str) -> None:
        """The agent is not stopped so, and the same mode is refused too."""
        raise NetlinkError(REFUSED_MODE)

    def set_agent(self, *, runs: bool) -> None:
        """Start or stop the firmware's LLDP agent: the flag fw-lldp-agent of ethtool."""
        if runs and self.port["apps"]:
            raise NetlinkError(BAD_VALUE)
        if runs != (self.port["dcbx"] == "fw"):
            self._bounce(**ONE_CLASS, dcbx="fw" if runs else "os")

    def set_pfc(self, mask: list[int]) -> None:
        """Set which priorities are lossless."""
        self._need_host()
        if mask != self.port["pfc"]:
            self._bounce(pfc=mask)

    def set_cable(self, metres: int) -> None:
        """The driver ignores the delay that the request carries."""
        del metres
        self._need_host()

    def set_ets(self, **changes: list[int] | list[str]) -> None:
        """Set shares; classes of priorities only without a DSCP entry. Classes from 0 must have no gap."""
        self._need_host()
        if self.port["apps"]:
            changes.pop("prio_tc")
        after = {**self.port, **changes}
        used = set(after["prio_tc"])
        whole = used == set(range(len(used)))
        total = sum(after["tcbw"][: len(used) if whole else 1])
        if len(used) == 1 or not whole or not total:
            changes["tcbw"] = [100, *after["tcbw"][1:]]
        elif total != 100:
            raise NetlinkError(BAD_VALUE)
        if any(self.port[key] != value for key, value in changes.items()):
            self._bounce(**(changes if whole else ONE_CLASS))

    def set_app(self, dscp: int, priority: int) -> None:
        """Map a DSCP that has no entry to a priority that has a class."""
        self._need_host()
        classes = self.port.get("ets_cap", CLASSES)
        if priority >= classes or dscp in dict(self.port["apps"]):
            raise NetlinkError(BAD_VALUE)
        own: dict[str, Any] = {}
        if not self.port["apps"]:
            own["prio_tc"] = [*range(classes), *self.port["prio_tc"][classes:]]
            own["tsa"] = [*["ets"] * classes, *self.port["tsa"][classes:]]
            own["tcbw"] = [100, *[0] * 7]
        self._bounce(apps=[[dscp, priority], *self.port["apps"]], **own)

    def del_app(self, dscp: int, priority: int) -> None:
        """Delete an entry."""
        self._need_host()
        left = [app for app in self.port["apps"] if app != [dscp, priority]]
        if left == self.port["apps"]:
            raise NetlinkError("Netlink error: No such file or directory (2)")
        self._bounce(apps=left, **({} if left else ONE_CLASS))

    def _bounce(self, **changes: Any) -> None:
        self._request(link_flaps=self.port["link_flaps"] + 1, **changes)


def bnxt_factory() -> dict[str, Any]:
    """Return a port after a boot: the driver shows shares that have not been set as one strict class."""
    strict = {"prio_tc": [0] * 8, "tsa": ["strict"] * 8, "tcbw": [0] * 8}
    return {**factory(), **strict, "buffers": False, "shares_set": False}


class Bnxt(Driver):
    """A port of Broadcom's Thor 2.

    Another number of traffic classes closes and opens it, and so does PFC that moves a class to another queue. The
    driver refuses PFC and the delay until shares are set. A second priority of a DSCP is one more entry in the kernel.

    `dscp2prio` is the firmware's map, with one entry for each DSCP. To delete, the driver sends DSCP and priority with
    mask 0. Here the firmware then has no entry, while the kernel may list another. No real firmware has been seen.
    """

    def set_dcbx(self, mode: str) -> None:
        """Firmware with an agent keeps DCBX."""
        if self.port["dcbx"] == "fw":
            raise NetlinkError(REFUSED_MODE)
        self._request(dcbx=mode)

    def set_pfc(self, mask: list[int]) -> None:
        """Set which priorities are lossless."""
        self._need_shares()
        self._request(pfc=mask, link_flaps=self.port["link_flaps"] + (mask != self.port["pfc"]))

    def set_cable(self, metres: int) -> None:
        """The driver keeps the delay, and does nothing with it."""
        self._need_shares()
        self._request(cable_len=metres)

    def set_ets(self, **changes: list[int] | list[str]) -> None:
        """Set shares, of strict classes and ETS classes alone."""
        self._need_host()
        after = {**self.port, **changes}
        shares = [share for at, share in enumerate(after["tcbw"]) if after["tsa"][at] == "ets"]
        if sum(shares) > 100 or set(after["tsa"]) - {"strict", "ets"}:
            raise NetlinkError(BAD_VALUE)
        flaps = self.port["link_flaps"] + (max(after["prio_tc"]) != max(self.port["prio_tc"]))
        self._request(**changes, shares_set=True, link_flaps=flaps)

    def set_app(self, dscp: int, priority: int) -> None:
        """Map a DSCP to one more priority, which the firmware takes alone."""
        self._need_host()
        if [dscp, priority] in self.port["apps"]:
            raise NetlinkError(EXISTS)
        self._request(
            apps=[[dscp, priority], *self.port["apps"]], dscp2prio=_with(self.port["dscp2prio"], dscp, priority)
        )

    def del_app(self, dscp: int, priority: int) -> None:
        """Delete an entry, and the firmware's for this DSCP."""
        self._need_host()
        if [dscp, priority] not in self.port["apps"]:
            raise NetlinkError(NO_ENTRY)
        left = [app for app in self.port["apps"] if app != [dscp, priority]]
        self._request(apps=left, dscp2prio=_with(self.port["dscp2prio"], dscp, 0))

    def _need_shares(self) -> None:
        self._need_host()
        if not self.port["shares_set"]:
            raise NetlinkError(BAD_VALUE)


RAIL = re.compile(r"(rail|stor)[0-7]")
MLX5, ICE, BNXT = "mlx5_core", "ice", "bnxt_en"
FACTORIES: dict[str, Callable[[], dict[str, Any]]] = {MLX5: factory, ICE: ice_factory, BNXT: bnxt_factory}
DRIVERS: dict[str, type[Driver]] = {MLX5: Driver, ICE: Ice, BNXT: Bnxt}
OVER_A_BOOT = {MLX5: ("link_flaps",), ICE: ("link_flaps", "dcbx", "ets_cap"), BNXT: ("link_flaps", "dcbx")}
OVER_A_RELOAD = {**OVER_A_BOOT, MLX5: KEPT}


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
