# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A port of Intel's E810 as its driver, ice, shows it through the kernel's DCB interface (after Linux 6.12).

The first DSCP entry turns the port to DSCP mode: each priority gets the class of its own number, and class 0 all of
the link. From then on the driver silently ignores other classes of priorities. When the last entry goes, all
priorities are in class 0, and PFC is off. While the firmware's LLDP agent runs, the driver refuses all settings. Each
change closes and opens the port.
"""

from __future__ import annotations

from typing import Any

from .driver import BAD_VALUE, Driver, NetlinkError, factory

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
    """Requests to this driver."""

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

    def _need_host(self) -> None:
        if self.port["dcbx"] == "fw":
            raise NetlinkError(BAD_VALUE)
