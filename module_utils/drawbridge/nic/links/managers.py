# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Our files beside those of the programs that configure network devices: MTU and routes after a boot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .routes import Routing

NETWORKD, NETWORK_MANAGER = "systemd-networkd", "NetworkManager"
NETWORKD_DROP_IN, NETWORKD_ROUTES = "50-drawbridge-mtu.conf", "50-drawbridge-routes.conf"
NETWORK_MANAGER_FILE = "/etc/NetworkManager/conf.d/50-drawbridge-mtu.conf"
DISPATCHER = "/etc/NetworkManager/dispatcher.d/50-drawbridge-routes"
"""NetworkManager has no file beside a profile for rules; it runs this program when a device is up."""
HEAD = "# Written by Drawbridge: the MTU of RDMA network devices.\n"
ROUTES_HEAD = "# Written by Drawbridge: packets from a rail's address leave through that rail.\n"


@dataclass(frozen=True)
class Owner:
    """The program that configures a device after a boot: its name, and the file or profile in which it does so."""

    name: str = ""
    source: str = ""
    mtu: int = 0
    """The MTU that a profile sets by itself; 0 for none."""


NO_OWNER = Owner()


@dataclass(frozen=True)
class Wanted:
    """What a device shall have after a boot, and who configures it."""

    owner: Owner
    mtu: int
    """0: the one that it has."""
    routing: Routing


def files(devices: Mapping[str, Wanted]) -> dict[str, str]:
    """The text of each of our files, by path."""
    found: dict[str, str] = {}
    managed: dict[int, list[str]] = {}
    cases = ""
    for name, want in devices.items():
        if want.owner.name == NETWORKD:
            folder = f"/etc/systemd/network/{want.owner.source.rsplit('/', 1)[-1]}.d"
            if want.mtu:
                found[f"{folder}/{NETWORKD_DROP_IN}"] = f"{HEAD}[Link]\nMTUBytes={want.mtu}\n"
            if want.routing.rules:
                found[f"{folder}/{NETWORKD_ROUTES}"] = ROUTES_HEAD + want.routing.networkd()
        elif want.owner.name == NETWORK_MANAGER:
            if want.mtu and not want.owner.mtu:
                managed.setdefault(want.mtu, []).append(name)
            if commands := want.routing.lines():
                cases += "\n".join([f"{name})", *(f"    {it} || :" for it in commands), "    ;;\n"])
    if managed:
        found[NETWORK_MANAGER_FILE] = HEAD + "\n".join(_section(mtu, names) for mtu, names in sorted(managed.items()))
    if cases:
        head = f'#!/bin/sh\n{ROUTES_HEAD}[ "$2" = up ] || exit 0\ncase "$1" in\n'
        found[DISPATCHER] = f"{head}{cases}esac\n"
    return found


def _section(mtu: int, names: list[str]) -> str:
    devices = ",".join(f"interface-name:{name}" for name in names)
    return f"[connection-drawbridge-{mtu}]\nmatch-device={devices}\nethernet.mtu={mtu}\n"
