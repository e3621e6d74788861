# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of a proposed intent from what runs already: Slurm, shared file systems, Kubernetes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core import hostlist
from ..core.question import ask, members, propose
from ..kube.model import Kube
from ..nodes.systems import SYSTEMS
from ..slurm.accounting.model import Storage
from ..slurm.config.text import CONF
from ..slurm.model import Partition, Slurm
from ..slurm.sources import SOURCES, choices
from ..storage.kinds import KINDS
from .describe_groups import Facts, in_order
from .describe_text import ALL

HERE = ("", "localhost", "127.0.0.1")


def daemons(hosts: Mapping[str, Facts], groups: Mapping[str, Sequence[str]]) -> tuple[Mapping[str, Any], str, str]:
    """The running slurm.conf, and the hosts of slurmctld and slurmdbd; "" for a slurmdbd beside slurmctld."""
    controllers = groups.get("controllers", ())
    order = [name for name in [*controllers, *in_order(hosts)] if name in hosts]
    reader = next((name for name in order if hosts[name]["slurm"].get("cluster")), "")
    running = hosts[reader]["slurm"] if reader else {}
    controller, accounting = (running.get(key, "") for key in ("controller", "accounting"))
    if controller.lower() in HERE:
        controller = reader if controller and reader in controllers else next(iter(controllers), "")
    controller = _as_inventory(controller, controllers)
    accounting = _as_inventory(accounting or next(iter(groups.get("accounting", ())), ""), groups.get("accounting", ()))
    separate = accounting not in HERE and _short(accounting) != _short(controller)
    return running, controller, accounting if separate else ""


def _as_inventory(host: str, names: Sequence[str]) -> str:
    """The host as the inventory calls it: Slurm may have its full name, and other capitals."""
    return host if host in names else next((name for name in names if _short(name) == _short(host)), host)


def _short(host: str) -> str:
    return host.lower().split(".")[0]


def slurm(hosts: Mapping[str, Facts], nodes: Mapping[str, Facts], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The domain slurm."""
    running, controller, accounting = daemons(hosts, groups)
    lines = ["drawbridge_slurm:"]
    lines.append(propose(2, Slurm, "cluster", running.get("cluster"), "ClusterName"))
    lines.append(_controller(controller, groups.get("controllers", ())))
    if (path := running.get("path", CONF)) != CONF:
        lines.append(
            f"  # slurmctld reads {path}, and Drawbridge writes {CONF}: move its folder there, and leave a link"
        )
    lines += _packages(sorted({facts["os"] for facts in nodes.values()}))
    if accounting:
        lines += ["  accounting:", propose(4, Storage, "host", accounting, "AccountingStorageHost")]
        look = "its server, user and name: slurmdbd.conf; for a slurmdbd that others run write slurmdbd: site instead"
        lines.append(ask(4, "database", look))
    if running.get("cloud"):
        lines.append(f"  # State=CLOUD of {running['cloud']}: Drawbridge has no nodes that a ResumeProgram starts")
    if not running.get("partitions"):
        return [*lines, ask(2, "partitions", f"name, nodes and gate of each; nodes are {hostlist.compress([*nodes])}")]
    lines.append("  partitions:")
    for part in running["partitions"]:
        lines.append("    - " + propose(0, Partition, "name", part["name"], "PartitionName"))
        lines.append(_members(part["nodes"], nodes))
        lines += ["      default: true"] if part["default"] else []
        lines.append(ask(6, "gate", "true: Kubernetes may use its nodes during jobs"))
    return lines


def _controller(host: str, names: Sequence[str]) -> str:
    if host and names and host not in names:
        why = f"slurm.conf has {host}, but the group controllers {', '.join(names)}; the host bears its inventory name"
        return ask(2, "controller", f"host of slurmctld; {why}")
    return propose(2, Slurm, "controller", host, "host of slurmctld")


def _packages(systems: Sequence[str]) -> list[str]:
    """A question where the default distributor has no such release."""
    found = [SOURCES.get((system, Slurm.packages)) for system in systems if system in SYSTEMS]
    if all(source and Slurm.version in source.usable for source in found):
        return []
    known = "; ".join(f"{system}: {' or '.join(choices(system))}" for system in systems if system in SYSTEMS)
    return [ask(2, "packages", f"distributor of Slurm's packages, and version with it; {known}")]


def _members(written: str, nodes: Mapping[str, Facts]) -> str:
    """The nodes of a partition, if all of them are nodes of the inventory that answered."""
    if written == ALL:
        return propose(6, Partition, "nodes", hostlist.compress([*nodes]), "its nodes")
    if unknown := [name for name in members(written) if name not in nodes]:
        why = "no host of the group nodes that answered has these names"
        return ask(6, "nodes", f"slurm.conf has {written}, but {why}: {hostlist.compress(unknown)}")
    return propose(6, Partition, "nodes", written, "slurm.conf gives it none")


def storage(hosts: Mapping[str, Facts], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The domains of file systems, after a comment with all mounts of shared ones."""
    found = sorted({(it["source"], it["mount"], it["type"]) for facts in hosts.values() for it in facts["mounts"]})
    lines = [f"# mounted now: {source} at {mount} ({kind})" for source, mount, kind in found]
    return lines + [line for kind in KINDS.values() if kind.proposed for line in kind.proposed(found, groups)]


def kube(nodes: Mapping[str, Facts]) -> list[str]:
    """The domain kube."""
    known = [facts["kubelet"] for facts in nodes.values() if facts["kubelet"]]
    policies = sorted({one["topology_policy"] for one in known if "topology_policy" in one})
    lines = [f"# kubelets run with topologyManagerPolicy {policies}"] if policies else []
    if not known:
        return [ask(0, "drawbridge_kube", "leave it out without Kubernetes; else api_server, ca_file and infra")]
    lines.append("drawbridge_kube:")
    for key, look in {"api_server": _look(known), "ca_file": "CA of the API server, on all nodes at one path"}.items():
        found = sorted({one[key] for one in known if one.get(key)})
        same = found[0] if len(found) == 1 and all(one.get(key) for one in known) else None
        lines.append(propose(2, Kube, key, same, look))
    lines += ["  join: site", ask(2, "infra", "nodes for all other pods: kubectl get nodes")]
    charts = {"gpu_operator": "GPU Operator", "rdma": "shared RDMA device plugin"}
    return lines + [ask(2, key, f"{{install: false}} if {name} is there: helm list -A") for key, name in charts.items()]


def _look(known: Sequence[Mapping[str, str]]) -> str:
    """Where a person finds the API server. Kubelets may reach it by a load balancer on their own host."""
    own = sorted({one["local_server"] for one in known if one.get("local_server")})
    note = f"; {', '.join(own)} of the kubelets is a load balancer on each node" if own else ""
    return f"kubectl cluster-info{note}"
