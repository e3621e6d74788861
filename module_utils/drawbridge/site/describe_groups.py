# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts with equal hardware as node classes, and nodes with equal leaf switches as ranges. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core import hostlist, ports

Facts = Mapping[str, Any]
"""What the module host_hardware returns of one host."""
MIB_OF_A_STEP = 4096
"""Equal servers differ by a few MiB of memory; a missing memory module is larger."""


@dataclass(frozen=True)
class Found:
    """A node class, and its hosts by their leaf switches in rail order."""

    name: str
    sample: Facts
    memory_mib: int
    ranges: dict[tuple[str, ...], list[str]]


def classes(hosts: Mapping[str, Facts]) -> list[Found]:
    """Classes in the order of their first host."""
    groups: dict[str, list[str]] = {}
    for host in in_order(hosts):
        groups.setdefault(_hardware(hosts[host]), []).append(host)
    found: list[Found] = []
    for names in groups.values():
        sample, ranges = hosts[names[0]], {}
        for host in names:
            ranges.setdefault(leaves(hosts[host]), []).append(host)
        base = gpu_type(sample) or "cpu"
        count = sum(one.name.split("-")[0] == base for one in found)
        memory = min(hosts[host]["memory_mib"] for host in names)
        found.append(Found(f"{base}-{count + 1}" if count else base, sample, memory, ranges))
    return found


def in_order(names: Mapping[str, Any]) -> list[str]:
    """Names in Slurm's order."""
    return hostlist.expand(hostlist.in_order(list(names)))


def _hardware(facts: Facts) -> str:
    """A key that equal hardware shares. Links and neighbours are no part of a class."""
    gpus = [(gpu["name"], gpu["numa"]) for gpu in facts["gpus"]]
    nics = [(nic["netdev"], nic["rdma"], nic["device"], nic["numa"]) for nic in facts["nics"]]
    memory = round(facts["memory_mib"] / MIB_OF_A_STEP)
    return json.dumps([facts["cpus"], memory, gpus, nics], sort_keys=True)


def gpu_type(facts: Facts) -> str:
    """Slurm's type of the GPUs: the model in the product name, such as h100 of NVIDIA H100 80GB HBM3."""
    words = [gpu["name"].split() for gpu in facts["gpus"]]
    named = (re.sub(r"[^a-z0-9._]", "", one[1].lower()) for one in words if len(one) > 1)
    return next(filter(None, named), "gpu" if words else "")


def leaves(facts: Facts) -> tuple[str, ...]:
    """Leaf switches in rail order, each once; () if a rail has no LLDP neighbour."""
    seen = [facts["neighbours"].get(nic["netdev"], ("", ""))[0] for nic in facts["nics"]]
    return tuple(dict.fromkeys(seen)) if all(seen) else ()


def cables(hosts: Mapping[str, Facts]) -> list[dict[str, str]]:
    """Entries of cabling.nodes: for each switch the ports of its nodes, node by node."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for host in in_order(hosts):
        facts = hosts[host]
        for switch in leaves(facts):
            near = [facts["neighbours"][nic["netdev"]] for nic in facts["nics"]]
            found.setdefault(switch, []).append((host, [port for name, port in near if name == switch]))
    alike: dict[tuple[str, str], list[str]] = {}
    for switch, rows in found.items():
        listed = ports.compress([port for _unused, some in rows for port in some])
        alike.setdefault((hostlist.compress([host for host, _unused in rows]), listed), []).append(switch)
    return [
        {"switches": hostlist.compress(switches), "ports": listed, "nodes": nodes}
        for (nodes, listed), switches in alike.items()
    ]
