# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts with equal hardware as node classes, and nodes with equal leaf switches as ranges. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core import hostlist, ports
from .describe_gpus import types

Facts = Mapping[str, Any]
"""What the module host_hardware returns of one host."""
MIB_OF_A_STEP = 4096
"""Equal servers differ by a few MiB of memory; a missing memory module is larger."""
MOST = 56
"""Characters of a class's name, before a number."""


@dataclass(frozen=True)
class Found:
    """A node class, and its hosts by their leaf switches in rail order."""

    name: str
    sample: Facts
    memory_mib: int
    ranges: dict[tuple[str, ...], list[str]]
    types: dict[str, str]
    """Slurm's types of its GPUs by product."""
    reserved_cpus: str
    """CPUs that all its kubelets reserve; empty if they differ, and without kubelets."""

    @property
    def hosts(self) -> list[str]:
        """All hosts of the class."""
        return [host for names in self.ranges.values() for host in names]


def classes(hosts: Mapping[str, Facts]) -> list[Found]:
    """Classes in the order of their first host."""
    groups: dict[str, list[str]] = {}
    for host in in_order(hosts):
        groups.setdefault(_hardware(hosts[host]), []).append(host)
    by_product = types(gpu["name"] for facts in hosts.values() for gpu in facts["gpus"])
    found: list[Found] = []
    taken: Counter[str] = Counter()
    for names in groups.values():
        sample, ranges = hosts[names[0]], {}
        for host in names:
            ranges.setdefault(leaves(hosts[host]), []).append(host)
        kinds = {gpu["name"]: by_product[gpu["name"]] for gpu in sample["gpus"]}
        base = _name(kinds.values()) if kinds else "cpu"
        taken[base] += 1
        memory = min(hosts[host]["memory_mib"] for host in names)
        name = f"{base}-{taken[base]}" if taken[base] > 1 else base
        reserved = {hosts[host]["kubelet"].get("reserved_cpus", "") for host in names}
        found.append(Found(name, sample, memory, ranges, kinds, reserved.pop() if len(reserved) == 1 else ""))
    return found


def _name(kinds: Iterable[str]) -> str:
    """A class's name: a DNS label."""
    words = re.findall("[a-z0-9]+", " ".join(kinds).lower())
    return "-".join(words)[:MOST].strip("-") or "gpu"


def in_order(names: Mapping[str, Any]) -> list[str]:
    """Names in Slurm's order."""
    return hostlist.expand(hostlist.in_order(list(names)))


def _hardware(facts: Facts) -> str:
    """A key that equal hardware shares. Links and neighbours are no part of a class."""
    gpus = [(gpu["name"], gpu["numa"], gpu["minor"], gpu.get("instances", {})) for gpu in facts["gpus"]]
    nics = [(nic["netdev"], nic["rdma"], nic["device"], nic["numa"]) for nic in facts["nics"]]
    memory = round(facts["memory_mib"] / MIB_OF_A_STEP)
    return json.dumps([facts["cpus"], memory, gpus, nics], sort_keys=True)


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
