# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A proposed intent as text, from what hosts have. What no host knows is a comment that asks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ..core import hostlist
from ..nodes.gpus.vendors import DEFAULT, VENDORS
from .describe_groups import Facts, Found, cables, classes, gpu_type, in_order
from .describe_lines import ask, plain
from .describe_running import daemons, kube, slurm, storage

GROUPS = ("controllers", "accounting", "login", "storage_admins", "nodes", "infra", "switches")


def folder(hosts: Mapping[str, Facts], groups: Mapping[str, Sequence[str]], lost: Mapping[str, str]) -> dict[str, str]:
    """Files by path. `hosts` are the facts of hosts that answered, `lost` the reasons of the others.

    A host may be in other hands: its text is taken only if it is plain.
    """
    hosts = {name: {**plain(facts), "missing": facts["missing"]} for name, facts in hosts.items()}
    nodes = {name: hosts[name] for name in in_order(hosts) if name in groups.get("nodes", ())}
    parts = {
        "nodes": _nodes(nodes),
        "slurm": slurm(hosts, nodes, groups),
        "storage": storage(hosts, groups),
        "kube": kube(nodes),
    }
    if any(facts["nics"] for facts in nodes.values()):
        parts["fabric"] = _fabric(nodes)
    files = {f"group_vars/all/{name}.yml": lines for name, lines in parts.items()}
    files["hosts.yml"] = _inventory(hosts, groups, lost, cables(nodes))
    return {path: "\n".join(["---", *lines, ""]) for path, lines in files.items()}


def _inventory(
    hosts: Mapping[str, Facts],
    groups: Mapping[str, Sequence[str]],
    lost: Mapping[str, str],
    cabled: Iterable[Mapping[str, str]],
) -> list[str]:
    more = {"switches": [name for cable in cabled for name in hostlist.expand(cable["switches"])]}
    more["accounting"] = [name for name in [daemons(hosts, groups)[2]] if name]
    lines = [f"# {host} gave no answer: {' '.join(reason.split())}" for host, reason in lost.items()]
    lines += [f"# {host}: {' '.join(reason.split())}" for host in in_order(hosts) for reason in hosts[host]["missing"]]
    lines += ["all:", "  children:"]
    for group in GROUPS:
        names = list(dict.fromkeys([*groups.get(group, ()), *more.get(group, ())]))
        lines += [f"    {group}:", "      hosts:", *(f"        {name}:" for name in names)] if names else []
    return lines


def _nodes(nodes: Mapping[str, Facts]) -> list[str]:
    found = classes(nodes)
    systems = sorted({facts["os"] for facts in nodes.values()})
    lines = ["drawbridge_nodes:", f"  os: {systems[0]}" if len(systems) == 1 else ask(2, "os", f"found {systems}")]
    lines += ["  classes:", *(line for one in found for line in _class(one)), "  ranges:"]
    for one in found:
        for leaves, names in one.ranges.items():
            lines += [f'    - names: "{hostlist.compress(names)}"', f"      node_class: {one.name}"]
            if leaves:
                lines.append(f'      leaves: "{hostlist.compress(list(leaves))}"')
            elif one.sample["nics"]:
                lines.append(ask(6, "leaves", "leaf switches of the rails; LLDP names none: show lldp neighbors there"))
    return lines


def _class(one: Found) -> list[str]:
    facts = one.sample
    lines = [f"    {one.name}:", *(f"      {key}: {value}" for key, value in facts["cpus"].items())]
    if not facts["cpus"]:
        lines += [ask(6, key, "lscpu") for key in ("sockets", "cores_per_socket")]
    known = facts["kubelet"].get("reserved_cpus")
    lines += [
        f"      memory_mib: {one.memory_mib}" if one.memory_mib else ask(6, "memory_mib", "slurmd -C"),
        f"      reserved_cpus: {json.dumps(known)}"
        if known
        else ask(6, "reserved_cpus", "whole cores for daemons: lscpu -e"),
        ask(6, "reserved_memory_mib", "memory of daemons and the file system's cache, such as mmlsconfig pagepool"),
    ]
    if facts["gpus"]:
        numa, vendor = [gpu["numa"] for gpu in facts["gpus"]], facts["gpus"][0]["vendor"]
        lines += ["      gpus:", f"        type: {gpu_type(facts)}"]
        lines += [f"        vendor: {vendor}"] if vendor != DEFAULT else []
        look = f"NUMA node of each of {len(numa)} GPUs: {VENDORS[vendor].topology}"
        lines.append(ask(8, "numa", look) if -1 in numa else f"        numa: {numa}")
    return lines + (_nics(facts) if facts["nics"] else [])


def _nics(facts: Facts) -> list[str]:
    nics = facts["nics"]
    numa, devices = [nic["numa"] for nic in nics], {nic["device"] for nic in nics}
    lines = [
        "      nics:  # all RDMA ports; give storage ports an entry of their own, with purpose: storage",
        f'        - netdev: "{hostlist.compress([nic["netdev"] for nic in nics])}"',
        f'          rdma: "{hostlist.compress([nic["rdma"] for nic in nics])}"',
        ask(10, "numa", "NUMA node of each port: lstopo") if -1 in numa else f"          numa: {numa}",
    ]
    return lines + ([f'          device: "{devices.pop()}"'] if len(devices) == 1 and devices != {""} else [])


def _fabric(nodes: Mapping[str, Facts]) -> list[str]:
    cabled = cables(nodes)
    lines = [
        "drawbridge_fabric:",
        ask(2, "roce", "priority, dscp and ECN thresholds of the lossless class on switches"),
    ]
    lines += [f"  # ports of nodes have MTU {sorted({n['mtu'] for f in nodes.values() for n in f['nics']})}"]
    lines.append(ask(2, "host_mtu_bytes", "MTU that the ports of nodes shall have"))
    if not cabled:
        return [*lines, ask(2, "switches", "LLDP names none; names, tier, platform, asic and ports of each kind")]
    lines.append("  switches:  # spines are not visible from nodes; add them")
    alike: dict[str, list[str]] = {}
    for cable in cabled:
        alike.setdefault(cable["ports"], []).extend(hostlist.expand(cable["switches"]))
    for used, switches in alike.items():
        lines += [f'    - names: "{hostlist.compress(switches)}"', "      tier: leaf"]
        lines += [ask(6, key, "show version") for key in ("platform", "asic")]
        lines.append(ask(6, "ports", f"all ports of the lossless class; those of nodes are {used}"))
    lines += ["  cabling:", "    nodes:"]
    return lines + [f"      - {json.dumps(cable)}" for cable in cabled]
