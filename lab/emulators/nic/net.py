# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""ip, networkctl and nmcli for tests without hosts; the lab's hosts have the real ip and systemd-networkd.

State: `links`, by device; `profiles`, MTUs by UUID, 0 for none; `rules` and `routes`, as `ip -N -j -4 rule|route`
prints them (iproute2 6.1 on Linux 6.18, captured). A link has index, mtu, max_mtu, operstate, network_file
(systemd-networkd's), profile (NetworkManager's UUID), `addresses` such as 10.10.0.1/16, and `admin_down`. Other texts
are those of iproute2 6.15, systemd 257 (both captured on a lab host) and of nmcli's manual.
"""

from __future__ import annotations

import ipaddress
import json
import sys
from typing import TYPE_CHECKING, Any

from ..common import DIE, DRIFT, LIE, REFUSE, Call, Killed, host_device, in_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def main(name: str, argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    device = host_device("net")
    with Call(device, name, argv) as call:
        effect = call.fault(writes=bool({"set", "reload", "add", "del", "replace"} & set(argv)))
        with device.state({"links": {}, "profiles": {}}) as state:
            try:
                lines = {"ip": ip, "networkctl": networkctl, "nmcli": nmcli}[name](state, argv, effect)
                print(*lines, sep="\n")
            except Refused as refusal:
                text, call.rc = refusal.args
                print(text, file=sys.stderr)
        if effect == DIE:
            raise Killed
    return call.rc or 0


def ip(state: dict[str, Any], argv: list[str], effect: str | None) -> Iterable[str]:
    """`ip -j -d addr show`, `ip link set dev NAME mtu BYTES`, and rules and routes."""
    if "rule" in argv or "route" in argv:
        return _routing(state, argv, effect)
    if "set" not in argv:
        return [json.dumps([_shown(name, link) for name, link in state["links"].items()])]
    name, mtu = argv[argv.index("dev") + 1], int(argv[argv.index("mtu") + 1])
    if name not in state["links"]:
        raise Refused(f'Cannot find device "{name}"', 1)
    link = state["links"][name]
    if effect == REFUSE:
        raise Refused("RTNETLINK answers: Operation not permitted", 2)
    if mtu > link["max_mtu"]:
        raise Refused("Error: mtu greater than device maximum.", 2)
    if effect not in (LIE, DIE):
        link["mtu"] = 1500 if effect == DRIFT else mtu
        link["sets"] = link.get("sets", 0) + 1
    return []


def _shown(name: str, link: dict[str, Any]) -> dict[str, Any]:
    flags = ["BROADCAST", "MULTICAST", *([] if link.get("admin_down") else ["UP"])]
    shown = {key: link[key] for key in ("mtu", "operstate", "max_mtu")}
    return {"ifindex": link["index"], "ifname": name, "flags": flags, **shown, "addr_info": addr_info(link)}


def _routing(state: dict[str, Any], argv: list[str], effect: str | None) -> Iterable[str]:
    what, verb, *words = argv[argv.index("rule" if "rule" in argv else "route") :]
    if verb == "show":
        return [json.dumps(rules(state) if what == "rule" else state.get("routes", []))]
    if effect == REFUSE:
        raise Refused("RTNETLINK answers: Operation not permitted", 2)
    if effect not in (LIE, DIE):
        (rule if what == "rule" else route)(state, verb, words)
    if effect == DRIFT:
        state["rules"] = []
    return []


def networkctl(state: dict[str, Any], argv: list[str], effect: str | None) -> Iterable[str]:
    """`networkctl --all status`, the lines that name devices and their files."""
    if effect == REFUSE:
        raise Refused("Failed to connect to network service /run/systemd/netif/io.systemd.Network", 1)
    for name, link in state["links"].items():
        yield f"● {link['index']}: {name}"
        yield "                   Link File: n/a"
        yield f"                Network File: {link['network_file'] or 'n/a'}"
        yield f"                         MTU: {link['mtu']} (min: 68, max: {link['max_mtu']})"
        yield ""


def nmcli(state: dict[str, Any], argv: list[str], effect: str | None) -> Iterable[str]:
    """`nmcli -t -f DEVICE,STATE,CON-UUID device`, `-g 802-3-ethernet.mtu connection show UUID`, `general reload`."""
    if effect == REFUSE:
        raise Refused("Error: NetworkManager is not running.", 8)
    if "reload" in argv:
        return []
    if "connection" in argv:
        mtu = state["profiles"].get(argv[-1])
        if mtu is None:
            raise Refused(f"Error: {argv[-1]} - no such connection profile.", 10)
        return [str(mtu) if mtu else "auto"]
    return [
        f"{name}:{'connected' if link['profile'] else 'unmanaged'}:{link['profile']}"
        for name, link in state["links"].items()
    ]
