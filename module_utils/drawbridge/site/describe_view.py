# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A proposed intent as text, from what hosts have. What no host knows is a comment that asks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ..core import hostlist, ports
from ..core.question import ask, members, plain, propose, refused
from ..core.reader import Reader
from ..fabric.cables.model import Cabling
from ..fabric.model import Switches
from ..nodes import gpu_rules, numa_rules
from ..nodes import rules as nodes_rules
from ..nodes.gpus.vendor import Vendor
from ..nodes.gpus.vendors import DEFAULT, VENDORS
from ..nodes.model import Gpus, NodeClass, Nodes, Range
from ..nodes.nics import Nics
from .describe_groups import Facts, Found, cables, classes, in_order, leaves
from .describe_running import daemons, kube, slurm, storage

RULES = (
    nodes_rules.classes_are_consistent,
    nodes_rules.nics_are_consistent,
    *gpu_rules.RULES,
    *(rule for rule in numa_rules.RULES if rule is not numa_rules.hugepages_leave_memory),
)
"""Rules of the machine itself."""
CPUS = "reserved_cpus"
UNUSUAL = ("numa_without_cpus", "numa_without_memory", "l3_caches")
"""Keys of machines that have such NUMA nodes or caches."""
GROUPS = ("controllers", "accounting", "login", "storage_admins", "nodes", "infra", "switches")


def folder(hosts: Mapping[str, Facts], groups: Mapping[str, Sequence[str]], lost: Mapping[str, str]) -> dict[str, str]:
    """Files by path. `hosts` are the facts of hosts that answered, `lost` the reasons of the others.

    A host may be in other hands: its text is taken only if it is plain.
    """
    hosts = {name: {**plain(facts), "missing": facts["missing"]} for name, facts in hosts.items()}
    nodes = {name: hosts[name] for name in in_order(hosts) if name in groups.get("nodes", ())}
    parts = {
        "nodes": _nodes(nodes, daemons(hosts, groups)[0].get("gpu_types", ())),
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
    _running, controller, accounting = daemons(hosts, groups)
    more["accounting"] = [accounting] if accounting else []
    more["controllers"] = [controller] if controller and not groups.get("controllers") else []
    lines = [f"# {host} gave no answer: {' '.join(reason.split())}" for host, reason in lost.items()]
    lines += [f"# {host}: {' '.join(reason.split())}" for host in in_order(hosts) for reason in hosts[host]["missing"]]
    lines += ["all:", "  children:"]
    for group in GROUPS:
        names = list(dict.fromkeys([*groups.get(group, ()), *more.get(group, ())]))
        lines += [f"    {group}:", "      hosts:", *(f"        {name}:" for name in names)] if names else []
    return lines


def _nodes(nodes: Mapping[str, Facts], live: Sequence[Mapping[str, str]]) -> list[str]:
    found, types = classes(nodes), {name: it["type"] for it in live for name in members(it["nodes"])}
    systems = sorted({facts["os"] for facts in nodes.values()})
    one_system = systems[0] if len(systems) == 1 else None
    lines = ["drawbridge_nodes:", propose(2, Nodes, "os", one_system, f"found {', '.join(systems)}")]
    # the intent has devices of all classes, or of none
    devices = {one.name: {nic["device"] for nic in one.sample["nics"]} for one in found if one.sample["nics"]}
    known = {} if any(len(it) > 1 or "" in it for it in devices.values()) else devices
    lines += ["  classes:", *(line for one in found for line in _class(one, types, known)), "  ranges:"]
    for one in found:
        for near, names in one.ranges.items():
            lines.append("    - " + propose(0, Range, "names", hostlist.compress(names), "names of these hosts"))
            lines.append(f"      node_class: {one.name}")
            look = "leaf switches of the rails; LLDP names none: show lldp neighbors there"
            if not _in_rail_order(nodes[names[0]], near):
                lines.append(ask(6, "leaves", f"leaf switches in rail order; LLDP says {', '.join(near)}"))
            elif near or one.sample["nics"]:
                lines.append(propose(6, Range, "leaves", hostlist.compress(list(near)), look))
    return lines


def _in_rail_order(facts: Facts, near: Sequence[str]) -> bool:
    """Whether groups of equally many ports are on one leaf each, as the intent has it."""
    nics = facts["nics"]
    if not near or len(nics) % len(near):
        return not near
    wanted = [near[at * len(near) // len(nics)] for at in range(len(nics))]
    return [facts["neighbours"][nic["netdev"]][0] for nic in nics] == wanted


def _class(one: Found, live: Mapping[str, str], devices: Mapping[str, Iterable[str]]) -> list[str]:
    facts, wrong = one.sample, _refused_by_rules(one)
    lines = [f"    {one.name}:"]
    for key, value in facts["cpus"].items():
        if key in UNUSUAL and not value:
            continue
        lines.append(propose(6, NodeClass, key, None if key in wrong else value, _with("lscpu", wrong, key)))
    if not facts["cpus"]:
        lines += [ask(6, key, "lscpu") for key in ("sockets", "cores_per_socket")]
    lines += [
        propose(6, NodeClass, "memory_mib", one.memory_mib or None, "slurmd -C"),
        _reserved_cpus(one, wrong),
        ask(6, "reserved_memory_mib", "memory of daemons and the file system's cache, such as mmlsconfig pagepool"),
    ]
    if facts["gpus"]:
        vendor = facts["gpus"][0]["vendor"]
        lines += ["      gpus:", *_gpus(one, live, wrong)]
        lines += [f"        vendor: {vendor}"] if vendor != DEFAULT else []
    lines += _nics(facts, wrong) if facts["nics"] else []
    return lines + [propose(10, Nics, "device", device, "lspci -n") for device in devices.get(one.name, ())]


def _refused_by_rules(one: Found) -> dict[str, str]:
    """What the rules of a node class say of the proposal, by key."""
    facts = one.sample
    numa = {part: [device["numa"] for device in facts[part]] for part in ("gpus", "nics")}
    reserved = one.reserved_cpus if one.reserved_cpus and not refused(NodeClass, CPUS, one.reserved_cpus) else "0"
    raw = {
        **{**facts["cpus"], "memory_mib": max(one.memory_mib, 2048), "reserved_memory_mib": 1024},
        CPUS: reserved,
        "gpus": {"type": "gpu", "numa": [] if -1 in numa["gpus"] else numa["gpus"]},
        "nics": [
            {key: hostlist.compress([nic[key] for nic in facts["nics"]]) for key in ("netdev", "rdma")}
            | {"numa": numa["nics"]}
        ],
    }
    build = Reader().record(NodeClass, raw if facts["nics"] and -1 not in numa["nics"] else {**raw, "nics": []}, "")
    faults = [fault for rule in RULES for fault in rule(Nodes({one.name: build}, ()))] if build else []
    return {fault.key.split(f".{one.name}.", 1)[1]: f"{fault.reason}; {fault.repair}" for fault in faults}


def _reserved_cpus(one: Found, wrong: Mapping[str, str]) -> str:
    """The kubelets' CPUs, if they are whole cores of this machine."""
    look = "whole cores for daemons: lscpu -e"
    if one.reserved_cpus and CPUS in wrong:
        why = f"the kubelets reserve {json.dumps(one.reserved_cpus)}, but {wrong[CPUS]}"
        return ask(6, CPUS, f"{look}; {why}")
    return propose(6, NodeClass, CPUS, one.reserved_cpus, look)


def _gpus(one: Found, live: Mapping[str, str], wrong: Mapping[str, str]) -> list[str]:
    """Type, which a live Slurm may have given, and NUMA nodes. A class has one type: people decide between models."""
    gpus = one.sample["gpus"]
    numa = [gpu["numa"] for gpu in gpus]
    look = _with(f"NUMA node of each of {len(numa)} GPUs: {VENDORS[gpus[0]['vendor']].topology}", wrong, "gpus.numa")
    if len(one.types) > 1:
        models = ", ".join(
            f"{sum(gpu['name'] == name for gpu in gpus)} {name or 'without a name'} ({kind or 'no type'})"
            for name, kind in one.types.items()
        )
        said = f"the models differ: {models}; a node class has one type, and GPUs of the others get no jobs"
        alone = "of the GPUs of this type alone, in their order, of"
        return [
            ask(8, "type", said),
            ask(8, "numa", f"{alone} {numa}"),
            ask(8, "minors", f"{alone} {[gpu['minor'] for gpu in gpus]}"),
            ask(8, "others", "number of GPUs of the other types"),
        ]
    known = {live.get(host, "") for host in one.hosts} - {""}
    kind = known.pop() if len(known) == 1 else one.types[gpus[0]["name"]]
    return [
        propose(8, Gpus, "type", kind, f"Slurm's type of them: {VENDORS[gpus[0]['vendor']].products[0]}"),
        propose(8, Gpus, "numa", None if -1 in numa or "gpus.numa" in wrong else numa, look),
        *_minors([gpu["minor"] for gpu in gpus], VENDORS[gpus[0]["vendor"]]),
        *_instances(gpus),
    ]


def _instances(gpus: Sequence[Facts]) -> list[str]:
    """The layout that most GPUs have, and those of the others."""
    layouts = [gpu.get("instances", {}) for gpu in gpus]
    if not any(layouts):
        return []
    usual = max(layouts, key=layouts.count)
    others = [{"gpus": [index], "layout": layout} for index, layout in enumerate(layouts) if layout != usual]
    mig = {"layout": usual, **({"exceptions": others} if others else {})}
    names = {gpu["name"] for gpu in gpus}
    return [
        propose(
            8, Gpus, "product", names.pop() if len(names) == 1 else "", "product of the GPUs, as the driver prints it"
        ),
        propose(8, Gpus, "mig", mig, "instances of each GPU by profile"),
    ]


def _minors(minors: Sequence[int], vendor: Vendor) -> list[str]:
    """Numbers of device files, if they are not the GPUs' places."""
    if vendor.counted and minors == list(range(len(minors))):
        return []
    where = vendor.kernel_list or vendor.about.format(pci="*")
    look = f"number of each GPU's device file, if they are not 0, 1, 2 and so on: {where}"
    return [propose(8, Gpus, "minors", None if -1 in minors else minors, look)]


def _with(look: str, wrong: Mapping[str, str], key: str) -> str:
    return f"{look}; {wrong[key]}" if key in wrong else look


def _nics(facts: Facts, wrong: Mapping[str, str]) -> list[str]:
    nics = facts["nics"]
    numa = [nic["numa"] for nic in nics]
    netdevs, rdma = (hostlist.compress([nic[key] for nic in nics]) for key in ("netdev", "rdma"))
    key, look = "nics[0].numa", "NUMA node of each port: lstopo"
    return [
        "      nics:  # all RDMA ports; give storage ports an entry of their own, with purpose: storage",
        "        - " + propose(0, Nics, "netdev", netdevs, "names of the devices"),
        propose(10, Nics, "rdma", rdma, "rdma link"),
        propose(10, Nics, "numa", None if -1 in numa or key in wrong else numa, _with(look, wrong, key)),
    ]


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
        names = propose(0, Switches, "names", hostlist.compress(switches), "LLDP gives no names of switches")
        lines += [f"    - {names}", "      tier: leaf"]
        lines += [ask(6, key, "show version") for key in ("platform", "asic")]
        lines.append(ask(6, "ports", f"all ports of the lossless class; those of nodes are {used}"))
    if why := _no_cabling(nodes, cabled):
        found = ", ".join(f"{cable['nodes']} at {cable['switches']} {cable['ports']}" for cable in cabled)
        return [*lines, ask(2, "cabling", f"nodes, switches and ports of the rails; LLDP says {found}, but {why}")]
    lines += ["  cabling:", "    nodes:", *(f"      - {json.dumps(cable)}" for cable in cabled)]
    if lost := [name for name, facts in nodes.items() if facts["nics"] and not leaves(facts)]:
        lines.append(f"      # add {hostlist.compress(lost)}: LLDP names no neighbour of some of its rails")
    return lines


def _no_cabling(nodes: Mapping[str, Facts], cabled: Sequence[Mapping[str, str]]) -> str:
    """Why the intent can't hold these cables; "" if it can."""
    if turned := [name for name, facts in nodes.items() if not _in_rail_order(facts, leaves(facts))]:
        return f"the rails of {hostlist.compress(turned)} are not on its leaves in equal groups"
    try:
        for cable in cabled:
            ports.expand(cable["ports"])
    except ports.PortsError as err:
        return str(err)
    return refused(Cabling, "nodes", cabled)
