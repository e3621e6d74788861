# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GIDs of RDMA devices: the addresses of RoCE packets."""

from __future__ import annotations

import re
from collections.abc import Iterable

V2 = "RoCE v2"
_IPV4 = re.compile(r"0000:0000:0000:0000:0000:ffff:(?!0000:0000)[0-9a-f]{4}:[0-9a-f]{4}")


def ipv4_gid(table: Iterable[tuple[int, str, str, str]], netdev: str) -> int | None:
    """The lowest index of a RoCE v2 GID with an IPv4 address on this device; None for none.

    `table` has index, GID, type and network device of each entry. An index depends on the order of addresses.
    """
    rows = (index for index, gid, kind, ndev in table if kind == V2 and ndev == netdev and _IPV4.fullmatch(gid))
    return min(rows, default=None)
