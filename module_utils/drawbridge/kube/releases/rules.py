# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of what gives pods their GPUs and RDMA devices: charts read what we set, plugins take what they are told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.faults import Fault
from ...core.names import EFFECT, TAINT
from ...core.rules import doubled
from ...nodes.model import Nodes
from ..model import Kube
from .catalogue import NVIDIA, RDMA_DEVICES, VIRTUAL_FUNCTIONS
from .values import leaves, tree, unread

OPERATOR, RDMA = "drawbridge_kube.gpu_operator", "drawbridge_kube.rdma"
OURS: Mapping[str, tuple[Any, str]] = {
    "driver.enabled": (False, "a driver in a container leaves Slurm's own jobs on the node without libraries"),
    "driver.upgradePolicy.autoUpgrade": (False, "its upgrades take nodes that jobs run on"),
    "migManager.enabled": (False, "it cuts up GPUs and reboots nodes under running jobs"),
    "operator.upgradeCRD": (False, "the role brings the definitions up to date, without a Job in the cluster"),
    "clusterPolicy.deployCR": (True, "without this object the operator does nothing"),
    "gpuCluster.deployCR": (False, "the chart allows one of the two ways only"),
}
"""Values that a site can't choose: what each must be, and why."""
TOLERATING = ("daemonsets.tolerations", "node-feature-discovery.worker.tolerations")


MIG = "mig.strategy"


def values_are_read(kube: Kube) -> Iterator[Fault]:
    """Helm takes any value, and a chart without a schema passes over what it does not know."""
    values = kube.gpu_operator.values
    for path in unread(values, tree(NVIDIA.tree)):
        reason = f"chart {NVIDIA.name} {NVIDIA.version} reads no such value, and nothing would come of it"
        yield Fault(f"{OPERATOR}.values.{path}", _at(values, path), reason, "look it up in the chart's values.yaml")


def values_leave_the_gate_alone(kube: Kube) -> Iterator[Fault]:
    """What the site sets may not undo what nodes that change hands need."""
    part = kube.gpu_operator
    given = {".".join(path): value for path, value in leaves(part.values)}
    if MIG in given and given[MIG] != part.mig_strategy:
        reason = f"{OPERATOR}.mig_strategy is {part.mig_strategy}, and this would win over it"
        yield Fault(f"{OPERATOR}.values.{MIG}", given[MIG], reason, "take it out, and set mig_strategy")
    for path, (must, reason) in OURS.items():
        if path in given and given[path] is not must:
            yield Fault(f"{OPERATOR}.values.{path}", given[path], reason, "take it out")
    for path in TOLERATING:
        if path in given and not _tolerates(given[path]):
            reason = f"the chart replaces the whole list, and without {TAINT} nothing of it runs on closed nodes"
            repair = f"add {{key: {TAINT}, operator: Exists}}, without an effect or with {EFFECT}"
            yield Fault(f"{OPERATOR}.values.{path}", given[path], reason, repair)


def namespaces_are_infrastructure(kube: Kube) -> Iterator[Fault]:
    """Only pods of such namespaces may run on closed nodes, and these must."""
    spaces = kube.infra_namespaces
    for key, part in ((OPERATOR, kube.gpu_operator), (RDMA, kube.rdma)):
        if part.install and part.namespace not in spaces:
            reason = "drawbridge_kube.infra_namespaces does not list it, so closed nodes would refuse its pods"
            repair = f"set infra_namespaces: {[*spaces, part.namespace]}, or {key}.install: false"
            yield Fault(f"{key}.namespace", part.namespace, reason, repair)


def devices_are_known(nodes: Nodes) -> Iterator[Fault]:
    """The plugin says nothing when no device matches: pods wait for ever."""
    classes = nodes.classes
    for name, build in classes.items():
        key, device = f"drawbridge_nodes.classes.{name}.nics.device", build.nics.device
        if device in VIRTUAL_FUNCTIONS:
            reason = "that is a virtual function, and rails are whole ports"
            yield Fault(key, device, reason, "write what `lspci -nn` says of the port itself")
        elif device and device not in RDMA_DEVICES:
            known = ", ".join(f"{known} ({title})" for known, title in RDMA_DEVICES.items() if known[:4] == device[:4])
            repair = f"use one of {known or ', '.join(RDMA_DEVICES)}"
            yield Fault(key, device, "no NIC that speaks RoCE is known by it", repair)
        elif not device and any(other.nics.device for other in classes.values()):
            reason = "other classes have one, and the plugin would look for theirs on these nodes too"
            yield Fault(key, device, reason, "give every class its device, or none")


def rails_are_the_same_everywhere(nodes: Nodes, kube: Kube) -> Iterator[Fault]:
    """One configuration serves all nodes: a network device is the same rail on each."""
    rails: dict[str, tuple[int, str]] = {}
    for name, build in nodes.classes.items():
        for rail, netdev in enumerate(build.nics.netdevs):
            other, where = rails.setdefault(netdev, (rail, name))
            if other != rail and kube.rdma.install:
                reason = f"{netdev} is rail {rail} here and rail {other} in class {where}, but pods ask for rails"
                repair = "name the ports by their rails on all nodes"
                yield Fault(f"drawbridge_nodes.classes.{name}.nics.netdev", build.nics.netdev, reason, repair)
                break


def resources_are_distinct(nodes: Nodes, kube: Kube) -> Iterator[Fault]:
    """The plugin ends when two resources have one name; a resource of no rail gives nothing."""
    resources = kube.rdma.resources
    yield from doubled(f"{RDMA}.resources", [part.name for part in resources], "give every resource a name of its own")
    most = max((len(build.nics.netdevs) for build in nodes.classes.values()), default=0)
    for index, part in enumerate(resources):
        key = f"{RDMA}.resources[{index}].rails"
        if not part.rails:
            yield Fault(key, [], f"rdma/{part.name} would give a pod nothing", "list its rails")
        yield from doubled(key, [str(rail) for rail in part.rails], "list every rail once")
        if beyond := [rail for rail in part.rails if rail >= most]:
            reason = f"no class has a rail {beyond[0]}"
            yield Fault(key, list(part.rails), reason, f"use 0 to {most - 1}")


def _at(values: Mapping[str, Any], path: str) -> Any:
    return dict((".".join(keys), value) for keys, value in leaves(values))[path]


def _tolerates(tolerations: Any) -> bool:
    return isinstance(tolerations, list) and any(
        isinstance(item, Mapping)
        and (item.get("key", TAINT), item.get("operator"), item.get("effect") or EFFECT) == (TAINT, "Exists", EFFECT)
        for item in tolerations
    )


RULES = (
    values_are_read,
    values_leave_the_gate_alone,
    namespaces_are_infrastructure,
    devices_are_known,
    rails_are_the_same_everywhere,
    resources_are_distinct,
)
