# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts from which a host's description is read: LLDP as JSON, slurm.conf, kubelet's configuration, nvidia-smi."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Callable

from ..slurm.takeover.text import Line, lines, settings, with_defaults

_NAME = re.compile(r"[A-Za-z0-9._/:-]+")
"""What a neighbour may call itself. LLDP is not authenticated, so other text is no name."""
_VALUE = re.compile(r"[A-Za-z0-9._/:,-]+")
_PCI = re.compile(r"^([0-9a-f]{4,8}):([0-9a-f]{2}:[0-9a-f]{2}[.][0-7])$")
_KUBELET = {
    "topologyManagerPolicy": "topology_policy",
    "reservedSystemCPUs": "reserved_cpus",
    "clientCAFile": "ca_file",
}
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


def slurm_conf(text: str, included: Callable[[str], str] = lambda _: "") -> dict[str, Any]:
    """Cluster, hosts of daemons and partitions. Nothing else leaves the host, because a file may have secrets.

    `included` returns the text of a file by the name after Include.
    """
    found = lines(text, included)
    known = settings(found)
    hosts = known.get("slurmctldhost", [("", "")])
    return {
        "cluster": known.get("clustername", [("", "")])[-1][1],
        "controller": hosts[0][1].split("(")[0],
        "accounting": known.get("accountingstoragehost", [("", "")])[-1][1],
        "partitions": [_partition(line) for line in with_defaults(found, "partitionname")],
    }


def _partition(line: Line) -> dict[str, Any]:
    values = {key: value for key, (_spelled, value) in line.values().items()}
    return {"name": line.name, "nodes": values.get("nodes", ""), "default": values.get("default", "").lower() == "yes"}


def kubelet(text: str) -> dict[str, str]:
    """Keys of a kubelet's configuration that the intent has too."""
    pairs = re.findall(r"^ *(\w+): *[\"']?([^\"'\n]*?)[\"']? *$", text, re.MULTILINE)
    return {_KUBELET[key]: value for key, value in pairs if key in _KUBELET and _VALUE.fullmatch(value)}


def api_server(text: str) -> str:
    """The address in a kubeconfig, "" for none. Nothing else leaves the host, because the file has a key."""
    match = re.search(r"^ *server: *[\"']?(https?://[A-Za-z0-9.:\[\]-]+)", text, re.MULTILINE)
    return match[1] if match else ""


def mounts(text: str) -> list[dict[str, str]]:
    """Mounts of shared file systems in /proc/mounts."""
    rows = [line.split() for line in text.splitlines()]
    return [{"source": row[0], "mount": row[1], "type": row[2]} for row in rows if row[2] in _FILE_SYSTEMS]


def gpus(text: str) -> list[dict[str, str]]:
    """Address and product name, from `nvidia-smi --query-gpu=pci.bus_id,name --format=csv,noheader`."""
    rows = [line.split(", ", 1) for line in text.splitlines() if ", " in line]
    return [{"pci": pci(row[0]), "name": row[1]} for row in rows]


def pci(address: str) -> str:
    """The address as the kernel writes it: nvidia-smi prints capital letters and eight digits of the domain."""
    match = _PCI.match(address.lower())
    return f"{match.group(1)[-4:]}:{match.group(2)}" if match else address


def system(text: str) -> str:
    """The operating system's word in the intent, from /etc/os-release. RHEL and its kin have their major version."""
    found = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    name, version = found.get("ID", ""), found.get("VERSION_ID", "")
    kin = name == "rhel" or "rhel" in found.get("ID_LIKE", "").split()
    return f"rhel-{version.split('.')[0]}" if kin else f"{name}-{version}"
