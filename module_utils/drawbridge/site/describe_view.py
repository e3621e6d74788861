# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A proposed intent as text, from what hosts have. What no host knows is a comment that asks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ..core import hostlist
from .describe_groups import Facts, Found, cables, classes, gpu_type, in_order

QUESTION = "# QUESTION"
GROUPS = ("controllers", "accounting", "login", "storage_admins", "nodes", "infra", "switches")


def folder(hosts: Mapping[str, Facts], groups: Mapping[str, Sequence[str]], lost: Mapping[str, str]) -> dict[str, str]:
    """Files by path. `hosts` are the facts of hosts that answered, `lost` the reasons of the others."""
    nodes = {name: hosts[name] for name in in_order(hosts) if name in groups.get("nodes", ())}
    parts = {
        "nodes": _nodes(nodes),
        "slurm": _slurm(hosts, nodes, groups),
        "storage": _storage(hosts, groups),
        "kube": _kube(nodes),
    }
    if any(facts["nics"] for facts in nodes.values()):
        parts["fabric"] = _fabric(nodes)
    files = {f"group_vars/all/{name}.yml": lines for name, lines in parts.items()}
    files["hosts.yml"] = _inventory(hosts, groups, lost, cables(nodes))
    return {path: "\n".join(["---", *lines, ""]) for path, lines in files.items()}


def ask(indent: int, key: str, look: str) -> str:
    """A line that asks for a key. The answer replaces it."""
    return f"{' ' * indent}{QUESTION}: {key}: {look}"


def _inventory(
    hosts: Mapping[str, Facts],
    groups: Mapping[str, Sequence[str]],
    lost: Mapping[str, str],
    cabled: Iterable[Mapping[str, str]],
) -> list[str]:
    switches = [name for cable in cabled for name in hostlist.expand(cable["switches"])]
    lines = [f"# {host} gave no answer: {' '.join(reason.split())}" for host, reason in lost.items()]
    lines += [f"# {host}: {' '.join(reason.split())}" for host in in_order(hosts) for reason in hosts[host]["missing"]]
    lines += ["all:", "  children:"]
    for group in GROUPS:
        names = list(dict.fromkeys([*groups.get(group, ()), *(switches if group == "switches" else ())]))
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
        f"      reserved_cpus: {known}" if known else ask(6, "reserved_cpus", "whole cores for daemons: lscpu -e"),
        ask(6, "reserved_memory_mib", "memory of daemons and the file system's cache, such as mmlsconfig pagepool"),
    ]
    if facts["gpus"]:
        numa = [gpu["numa"] for gpu in facts["gpus"]]
        lines += ["      gpus:", f"        type: {gpu_type(facts)}"]
        look = f"NUMA node of each of {len(numa)} GPUs: nvidia-smi topo -m"
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


def _slurm(hosts: Mapping[str, Facts], nodes: Mapping[str, Facts], groups: Mapping[str, Sequence[str]]) -> list[str]:
    first = [*groups.get("controllers", ()), *in_order(hosts)]
    running = next((hosts[name]["slurm"] for name in first if name in hosts and hosts[name]["slurm"]), {})
    controller = running.get("controller") or next(iter(groups.get("controllers", ())), "")
    lines = ["drawbridge_slurm:"]
    lines.append(f"  cluster: {running['cluster']}" if running.get("cluster") else ask(2, "cluster", "ClusterName"))
    lines.append(f"  controller: {controller}" if controller else ask(2, "controller", "host of slurmctld"))
    accounting = running.get("accounting") or next(iter(groups.get("accounting", ())), "")
    if accounting not in ("", "localhost", controller):
        lines += ["  accounting:", f"    host: {json.dumps(accounting)}"]
        lines.append(ask(4, "database", "server: site for a database that exists, its user and name: slurmdbd.conf"))
    if not running.get("partitions"):
        return [*lines, ask(2, "partitions", f"name, nodes and gate of each; nodes are {hostlist.compress([*nodes])}")]
    lines.append("  partitions:")
    for part in running["partitions"]:
        names = hostlist.compress([*nodes]) if part["nodes"].upper() == "ALL" else part["nodes"]
        lines += [f"    - name: {json.dumps(part['name'])}", f"      nodes: {json.dumps(names)}"]
        lines += ["      default: true"] if part["default"] else []
        lines.append(ask(6, "gate", "true: Kubernetes may use its nodes during jobs"))
    return lines


def _storage(hosts: Mapping[str, Facts], groups: Mapping[str, Sequence[str]]) -> list[str]:
    found = {(it["source"], it["mount"], it["type"]) for facts in hosts.values() for it in facts["mounts"]}
    lines = [f"# mounted now: {source} at {mount} ({kind})" for source, mount, kind in sorted(found)]
    gpfs = sorted((source, mount) for source, mount, kind in found if kind == "gpfs")
    if not gpfs:
        return [
            *lines,
            ask(0, "drawbridge_gpfs", "only with Storage Scale: mmlscluster, mmlsfs all"),
        ]
    admins = list(groups.get("storage_admins", ()))
    lines += ["drawbridge_gpfs:", f"  admin: {admins[0]}" if admins else ask(2, "admin", "mmlscluster")]
    lines += [ask(2, "cluster", "mmlscluster: GPFS cluster name"), "  filesystems:"]
    return lines + [
        f"    - {{device: {json.dumps(source.rpartition('/')[2])}, mount: {json.dumps(mount)}}}"
        for source, mount in gpfs
    ]


def _kube(nodes: Mapping[str, Facts]) -> list[str]:
    known = [facts["kubelet"] for facts in nodes.values() if facts["kubelet"]]
    policies = sorted({one["topology_policy"] for one in known if "topology_policy" in one})
    lines = [f"# kubelets run with topologyManagerPolicy {policies}"] if policies else []
    if not known:
        return [ask(0, "drawbridge_kube", "leave it out without Kubernetes; else api_server, ca_file and infra")]
    lines.append("drawbridge_kube:")
    for key, look in {"api_server": "kubectl cluster-info", "ca_file": "clientCAFile of kubelets"}.items():
        found = sorted({one[key] for one in known if key in one})
        lines.append(f"  {key}: {json.dumps(found[0])}" if len(found) == 1 else ask(2, key, look))
    lines += ["  join: site", ask(2, "infra", "nodes for all other pods: kubectl get nodes")]
    charts = {"gpu_operator": "GPU Operator", "rdma": "shared RDMA device plugin"}
    return lines + [ask(2, key, f"{{install: false}} if {name} is there: helm list -A") for key, name in charts.items()]
