# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The address of a node of the job, as the other nodes reach it."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from ..gate.config import Refused


def reachable(host: str, api_server: str, alone: bool) -> str:
    """A host's address: pods can't resolve names of hosts. Raises Refused.

    A host may map its own name to a loopback address, which is what Debian's installer writes into /etc/hosts. Then it
    is the address from which this host reaches the API server. A job that is `alone` on its node can use loopback.
    """
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)]
    except OSError as err:
        raise Refused(f"the address of {host} can't be found ({err}): ask the administrators") from err
    usable = _outside(found) or _outside(_source(api_server)) or found[:alone]
    if not usable:
        raise Refused(
            f"{host} is {found[0]} here, which the job's other nodes can't reach: ask the administrators to map the "
            "name to the node's real address in /etc/hosts"
        )
    return usable[0]


def _outside(addresses: Sequence[str]) -> list[str]:
    """Those by which other hosts may reach this one."""
    parsed = [(address, ip_address(address)) for address in addresses]
    return [address for address, it in parsed if not (it.is_loopback or it.is_link_local)]


def _source(api_server: str) -> list[str]:
    """The address from which this host would send to the API server; none if it has no route. Sends nothing."""
    url = urlsplit(api_server)
    try:
        found = socket.getaddrinfo(url.hostname, url.port or 443, type=socket.SOCK_DGRAM)
        with socket.socket(*found[0][:2]) as probe:
            probe.connect(found[0][4])
            return [str(probe.getsockname()[0])]
    except OSError:
        return []
