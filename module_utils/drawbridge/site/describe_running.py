# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of a proposed intent from what runs already: Slurm, shared file systems, Kubernetes. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..core import hostlist
from .describe_groups import Facts, in_order
from .describe_lines import ask

HERE = ("", "localhost", "127.0.0.1")


def daemons(hosts: Mapping[str, Facts], groups: Mapping[str, Sequence[str]]) -> tuple[Mapping[str, Any], str, str]:
    """The running slurm.conf, and the hosts of slurmctld and slurmdbd; "" for a slurmdbd beside slurmctld."""
    order = [name for name in [*groups.get("controllers", ()), *in_order(hosts)] if name in hosts]
    running = next((hosts[name]["slurm"] for name in order if hosts[name]["slurm"].get("cluster")), {})
    controller = running.get("controller") or next(iter(groups.get("controllers", ())), "")
    accounting = running.get("accounting") or next(iter(groups.get("accounting", ())), "")
    separate = accounting not in HERE and accounting.split(".")[0] != controller.split(".")[0]
    return running, controller, accounting if separate else ""


def slurm(hosts: Mapping[str, Facts], nodes: Mapping[str, Facts], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The domain slurm."""
    running, controller, accounting = daemons(hosts, groups)
    cluster = running.get("cluster")
    lines = ["drawbridge_slurm:"]
    lines.append(f"  cluster: {json.dumps(cluster)}" if cluster else ask(2, "cluster", "ClusterName"))
    lines.append(f"  controller: {json.dumps(controller)}" if controller else ask(2, "controller", "host of slurmctld"))
    if accounting:
        lines += ["  accounting:", f"    host: {json.dumps(accounting)}"]
        look = "its server, user and name: slurmdbd.conf; for a slurmdbd that others run write slurmdbd: site instead"
        lines.append(ask(4, "database", look))
    if not running.get("partitions"):
        return [*lines, ask(2, "partitions", f"name, nodes and gate of each; nodes are {hostlist.compress([*nodes])}")]
    lines.append("  partitions:")
    for part in running["partitions"]:
        names = hostlist.compress([*nodes]) if part["nodes"].upper() == "ALL" else part["nodes"]
        lines += [f"    - name: {json.dumps(part['name'])}", f"      nodes: {json.dumps(names)}"]
        lines += ["      default: true"] if part["default"] else []
        lines.append(ask(6, "gate", "true: Kubernetes may use its nodes during jobs"))
    return lines


def storage(hosts: Mapping[str, Facts], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The domain gpfs, after a comment with all mounts of shared file systems."""
    found = {(it["source"], it["mount"], it["type"]) for facts in hosts.values() for it in facts["mounts"]}
    lines = [f"# mounted now: {source} at {mount} ({kind})" for source, mount, kind in sorted(found)]
    gpfs = sorted((source, mount) for source, mount, kind in found if kind == "gpfs")
    if not gpfs:
        return [
            *lines,
            ask(0, "drawbridge_gpfs", "only with Storage Scale: mmlscluster, mmlsfs all"),
        ]
    admins = list(groups.get("storage_admins", ()))
    lines += ["drawbridge_gpfs:", f"  admin: {json.dumps(admins[0])}" if admins else ask(2, "admin", "mmlscluster")]
    lines += [ask(2, "cluster", "mmlscluster: GPFS cluster name"), "  filesystems:"]
    return lines + [
        f"    - {{device: {json.dumps(source.rpartition('/')[2])}, mount: {json.dumps(mount)}}}"
        for source, mount in gpfs
    ]


def kube(nodes: Mapping[str, Facts]) -> list[str]:
    """The domain kube."""
    known = [facts["kubelet"] for facts in nodes.values() if facts["kubelet"]]
    policies = sorted({one["topology_policy"] for one in known if "topology_policy" in one})
    lines = [f"# kubelets run with topologyManagerPolicy {policies}"] if policies else []
    if not known:
        return [ask(0, "drawbridge_kube", "leave it out without Kubernetes; else api_server, ca_file and infra")]
    lines.append("drawbridge_kube:")
    for key, look in {"api_server": "kubectl cluster-info", "ca_file": "clientCAFile of kubelets"}.items():
        found = sorted({one[key] for one in known if one.get(key)})
        lines.append(f"  {key}: {json.dumps(found[0])}" if len(found) == 1 else ask(2, key, look))
    lines += ["  join: site", ask(2, "infra", "nodes for all other pods: kubectl get nodes")]
    charts = {"gpu_operator": "GPU Operator", "rdma": "shared RDMA device plugin"}
    return lines + [ask(2, key, f"{{install: false}} if {name} is there: helm list -A") for key, name in charts.items()]
