# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names and addresses by which each host reaches itself."""

from __future__ import annotations

from ipaddress import ip_address

_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
ON_ONE_HOST = "each host reaches itself there, and not one service of the site"
REPAIR = "write an address that all hosts reach"


def is_loopback(host: str) -> bool:
    """Whether a name or an address, also one in brackets, means the host that uses it."""
    name = host.strip("[]").lower().rstrip(".")
    if name in _NAMES or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified
