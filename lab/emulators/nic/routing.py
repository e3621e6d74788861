# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's IPv4 rules and routes behind `ip -N -j -4 rule|route` (iproute2 6.1 on Linux 6.18, captured).

State: `rules` and `routes`, as ip prints them with -N. Of a link: `addresses` such as 10.10.0.1/16, and `admin_down`.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from ..common import in_pairs

KERNELS = [{"priority": 0, "src": "all", "table": "255"}]
KERNELS += [{"priority": 32766 + at, "src": "all", "table": str(254 - at)} for at in range(2)]
NUMBERS = {"static": "4", "link": "253"}


class Refused(Exception):
    """Text on stderr, and the exit code."""


def addr_info(link: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a link's addresses as `ip -d addr show` has them; a second one of a subnet is secondary."""
    found: list[dict[str, Any]] = []
    subnets: list[ipaddress.IPv4Network] = []
    for text in link.get("addresses", ()):
        address = ipaddress.IPv4Interface(text)
        entry = {"family": "inet", "local": str(address.ip), "prefixlen": address.network.prefixlen, "scope": "global"}
        found.append({**entry, "secondary": True} if address.network in subnets else entry)
        subnets.append(address.network)
    return [*found, {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"}]


def rules(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all rules in the order of their priority."""
    return sorted([*KERNELS, *state.get("rules", ())], key=lambda rule: rule["priority"])


def rule(state: dict[str, Any], verb: str, words: list[str]) -> None:
    """`ip rule add|del priority P from A lookup T [protocol static]`. The protocol makes a rule another one."""
    said = in_pairs(words)
    entry = {"priority": int(said["priority"]), "src": said["from"], "table": said["lookup"]}
    listed = state.setdefault("rules", [])
    if verb == "del":
        match = next((it for it in listed if entry.items() <= it.items()), None)
        if not match:
            raise Refused("RTNETLINK answers: No such file or directory", 2)
        listed.remove(match)
        return
    if "protocol" in said:
        entry["protocol"] = NUMBERS[said["protocol"]]
    if entry in listed:
        raise Refused("RTNETLINK answers: File exists", 2)
    listed.append(entry)


def route(state: dict[str, Any], verb: str, words: list[str]) -> None:
    """`ip route replace|del DST table T dev D [scope link] [via G] src A [proto static]`."""
    said = {"dst": words[0], **in_pairs(words[1:])}
    listed = state.setdefault("routes", [])
    old = next((it for it in listed if (it["dst"], it["table"]) == (said["dst"], said["table"])), None)
    if verb == "del":
        if not old:
            raise Refused("RTNETLINK answers: No such process", 2)
        listed.remove(old)
        return
    link = state["links"][said["dev"]]
    local = [ipaddress.IPv4Interface(text) for text in link.get("addresses", ())]
    if link.get("admin_down"):
        raise Refused("Error: Device for nexthop is not up.", 2)
    if said["src"] not in [str(it.ip) for it in local]:
        raise Refused("Error: Invalid prefsrc address.", 2)
    if "via" in said and not any(ipaddress.IPv4Address(said["via"]) in it.network for it in local):
        raise Refused("Error: Nexthop has invalid gateway.", 2)
    if old:
        listed.remove(old)
    entry = {"dst": said["dst"], "gateway": said.get("via"), "dev": said["dev"], "table": said["table"]}
    entry |= {"protocol": NUMBERS[said.get("proto", "static")], "scope": NUMBERS.get(said.get("scope", ""))}
    entry |= {"prefsrc": said["src"], "flags": []}
    listed.append({key: value for key, value in entry.items() if value is not None})
