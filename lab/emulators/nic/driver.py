# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One RDMA port as its driver shows it through the kernel's DCB interface (after mlx5 in Linux 6.12).

A port is a dict in the device's state. Each method of `Driver` is one request to the kernel: it happens as a whole or
raises, and several of them never form a transaction.
"""

from __future__ import annotations

import copy
from typing import Any

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
