# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What ip, networkctl and nmcli print about network devices."""

from __future__ import annotations

import json
import re
from typing import Any

_DEVICE = re.compile(r"^\S+ +[0-9]+: (\S+)$")
_SOURCE = re.compile(r"^ *Network File: (/\S+)$")
_FIELD = re.compile(r"(?<!\\):")


def devices(printed: str) -> dict[str, dict[str, Any]]:
    """Devices by name, from `ip -j -d link show`."""
    return {link["ifname"]: link for link in json.loads(printed)}


def sources(printed: str) -> dict[str, str]:
    """The .network file of each device, from `networkctl --all status`. Devices that have none are absent."""
    found: dict[str, str] = {}
    name = ""
    for line in printed.splitlines():
        if device := _DEVICE.match(line):
            name = device.group(1)
        elif source := _SOURCE.match(line):
            found[name] = source.group(1)
    return found


def profiles(printed: str) -> dict[str, str]:
    """The profile of each connected device, from `nmcli -t -f DEVICE,STATE,CON-UUID device`.

    NetworkManager only watches a device that is "connected (externally)".
    """
    rows = [[cell.replace("\\", "") for cell in _FIELD.split(line)] for line in printed.splitlines()]
    return {row[0]: row[2] for row in rows if len(row) == 3 and row[1] == "connected"}


def profile_mtu(printed: str) -> int:
    """The MTU of a profile, from `nmcli -g 802-3-ethernet.mtu connection show`; 0 if it has none of its own."""
    text = printed.strip()
    return int(text) if text.isdigit() else 0


def port_settings(printed: str) -> dict[str, str]:
    """Global pause or rings of a port, from `ethtool -a` or `-g`, in ethtool's own words. Raises ValueError.

    All releases print this text. With --json, those before 6.2 print every pause as true, and refuse -g.
    """
    for title, name, value in (("Pause parameters", "global pause", "on|off"), ("Ring parameters", "ring", "\\d+")):
        if printed.startswith(title):
            # rings: the maximums precede the settings
            found = {way.lower(): text for way, text in re.findall(rf"^(RX|TX):\s+({value})$", printed, re.MULTILINE)}
            if found.keys() == {"rx", "tx"}:
                return {f"{name} {way}": text for way, text in found.items()}
    raise ValueError(f"ethtool printed no settings of a port, but {printed.strip()[:80]!r}")


def global_pause(printed: str) -> dict[str, bool]:
    """Whether the port sends and obeys pause frames of all priorities, from `ethtool -a`."""
    return {name.split()[-1]: value == "on" for name, value in port_settings(printed).items()}
