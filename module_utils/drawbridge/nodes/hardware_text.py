# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts from which a host's description is read: LLDP as JSON, mounts, the operating system."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9._/:-]+")
"""What a neighbour may call itself. LLDP is not authenticated, so other text is no name."""
_FILE_SYSTEMS = ("gpfs", "nfs", "nfs4", "lustre")


def lldpctl(text: str) -> dict[str, list[str]]:
    """Switch and port of each network device, from `lldpctl -f json0`. Raises ValueError."""
    found = {}
    for part in json.loads(text).get("lldp", []):
        for device in part.get("interface", []):
            ends = [_value(device, "chassis", "name"), _value(device, "port", "id")]
            if _NAME.fullmatch(ends[0]):
                found[device["name"]] = ends if _NAME.fullmatch(ends[1]) else [ends[0], ""]
    return found


def _value(device: Mapping[str, Any], part: str, key: str) -> str:
    """The first value, because json0 writes every element as a list."""
    return next((str(one["value"]) for some in device.get(part, []) for one in some.get(key, [])), "")


def networkctl(text: str) -> dict[str, list[str]]:
    """The same from `networkctl lldp --json=short`. Raises ValueError."""
    ends = {
        device["InterfaceName"]: [near.get("SystemName", ""), near.get("PortID", "")]
        for device in json.loads(text).get("Neighbors", [])
        for near in device.get("Neighbors", [])[:1]
    }
    return {name: pair for name, pair in ends.items() if all(map(_NAME.fullmatch, pair))}


def mounts(text: str) -> list[dict[str, str]]:
    """Mounts of shared file systems in /proc/mounts."""
    rows = [line.split() for line in text.splitlines()]
    return [{"source": row[0], "mount": row[1], "type": row[2]} for row in rows if row[2] in _FILE_SYSTEMS]


def system(text: str) -> str:
    """The operating system's word in the intent, from /etc/os-release. RHEL and its kin have their major version."""
    found = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    name, version = found.get("ID", ""), found.get("VERSION_ID", "")
    kin = name == "rhel" or "rhel" in found.get("ID_LIKE", "").split()
    return f"rhel-{version.split('.')[0]}" if kin else f"{name}-{version}"
