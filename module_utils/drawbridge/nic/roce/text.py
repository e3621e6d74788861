# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Entries of the kernel's RDMA trees, and what mlxconfig prints."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .plan import V2

_IPV4 = re.compile(r"0000:0000:0000:0000:0000:ffff:(?!0000:0000)[0-9a-f]{4}:[0-9a-f]{4}")
_PARAMETER = re.compile(r"^\*? +([A-Z0-9_]+) +(\S+) +(\S+) +(\S+) *$", re.M)
_VALUE = re.compile(r"\w*\((\d+)\)")


def ipv4_gid(table: Iterable[tuple[int, str, str, str]], netdev: str) -> int | None:
    """The lowest index of a RoCE v2 GID with an IPv4 address on this device; None for none.

    `table` has index, GID, type and network device of each entry. An index depends on the order of addresses.
    """
    rows = (index for index, gid, kind, ndev in table if kind == V2 and ndev == netdev and _IPV4.fullmatch(gid))
    return min(rows, default=None)


def current(printed: str) -> dict[str, str]:
    """Parameters and their current numbers, from `mlxconfig -e query`: columns default, current, next boot."""
    found = {name: value for name, _unused, value, _unused in _PARAMETER.findall(printed)}
    return {name: match.group(1) if (match := _VALUE.fullmatch(value)) else value for name, value in found.items()}
