# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules for the GPU operator's values and the RDMA plugin's devices and resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.faults import Fault
from ...core.names import EFFECT, TAINT
from ...core.rules import doubled
from ...nodes.job_mapping import JOB_MAPPING
from ...nodes.model import Nodes
from ...nodes.nics import RAILS
from ..model import Kube
from .catalogue import AMD, NVIDIA, RDMA_DEVICES, VIRTUAL_FUNCTIONS
from .values import leaves, tree, unread

OPERATOR, RDMA = "drawbridge_kube.gpu_operator", "drawbridge_kube.rdma"
FIXED_VALUES: Mapping[str, tuple[Any, str]] = {
    "driver.enabled": (False, "with a driver in a container, Slurm's own jobs on the node have no driver libraries"),
    "driver.upgradePolicy.autoUpgrade": (False, "its upgrades drain nodes under running jobs"),
    "migManager.enabled": (False, "it splits GPUs and reboots nodes under running jobs"),
    "operator.upgradeCRD": (False, "the role updates the definitions itself, without a Job in the cluster"),
    "clusterPolicy.deployCR": (True, "without this object the operator has no effect"),
    "gpuCluster.deployCR": (False, "the chart allows only one of gpuCluster and clusterPolicy"),
    "dcgmExporter.hpcJobMapping.directory": (JOB_MAPPING, "the prolog of nodes writes the jobs of GPUs there"),
}
"""Values that a site can't change: the value, and the reason."""
AMD_FIXED_VALUES: Mapping[str, tuple[Any, str]] = {
    "nfd.enabled": (False, "its workers do not tolerate the gate's taint, and the plugin needs no labels"),
    "labeller.enabled": (False, "it may change every node object, and the plugin needs no labels"),
}
"""The same of the chart of AMD's device plugin."""
TOLERATING = ("daemonsets.tolerations", "node-feature-discovery.worker.tolerations")
AMD_TOLERATING = ("tolerations",)
MIG = "mig.strategy"
Settings = Mapping[str, tuple[Any, str]]


def values_are_read(kube: Kube) -> Iterator[Fault]:
    """Helm accepts any value, and a chart without a schema ignores unknown ones."""
    part = kube.gpu_operator
    for key, values, chart in (("values", part.values, NVIDIA), ("amd_values", part.amd_values, AMD)):
        for path, value in unread(values, tree(chart.tree)).items():
            if value is None or value == {}:
                yield Fault(f"{OPERATOR}.{key}.{path}", value, "it has no values", "remove it")
                continue
            reason = f"chart {chart.name} {chart.version} does not read this value, so it would have no effect"
            yield Fault(f"{OPERATOR}.{key}.{path}", value, reason, "look it up in the chart's values.yaml")


def values_leave_the_gate_alone(kube: Kube) -> Iterator[Fault]:
    """The site's values may not undo the values that gated nodes need."""
    part = kube.gpu_operator
    given = {".".join(path): value for path, value in leaves(part.values)}
    if MIG in given and given[MIG] != part.mig_strategy:
        reason = f"{OPERATOR}.mig_strategy is {part.mig_strategy}, and this would override it"
        yield Fault(f"{OPERATOR}.values.{MIG}", given[MIG], reason, "remove it, and set mig_strategy")
    yield from _undone(f"{OPERATOR}.values", part.values, FIXED_VALUES, TOLERATING)
    yield from _undone(f"{OPERATOR}.amd_values", part.amd_values, AMD_FIXED_VALUES, AMD_TOLERATING)


def _undone(key: str, values: Mapping[str, Any], settings: Settings, tolerating: Sequence[str]) -> Iterator[Fault]:
    """Values of a chart that differ from those that gated nodes need."""
    given = {".".join(path): value for path, value in leaves(values)}
    for path, (fixed, reason) in settings.items():
        if path in given and given[path] != fixed:
            yield Fault(f"{key}.{path}", given[path], reason, "remove it")
    for path in tolerating:
        if path in given and not _tolerates(given[path]):
            reason = f"it replaces the chart's whole list, and without {TAINT} no pod of the chart runs on closed nodes"
            repair = f"add {{key: {TAINT}, operator: Exists}}, without an effect or with {EFFECT}"
            yield Fault(f"{key}.{path}", given[path], reason, repair)


def namespaces_are_infrastructure(kube: Kube) -> Iterator[Fault]:
    """These pods must run on closed nodes, and only pods of infrastructure namespaces may."""
    spaces = kube.infra_namespaces
    for key, part in ((OPERATOR, kube.gpu_operator), (RDMA, kube.rdma)):
        if part.install and part.namespace not in spaces:
            reason = "drawbridge_kube.infra_namespaces does not list it, so closed nodes would refuse its pods"
            repair = f"set infra_namespaces: {[*spaces, part.namespace]}, or {key}.install: false"
            yield Fault(f"{key}.namespace", part.namespace, reason, repair)


def devices_are_known(nodes: Nodes) -> Iterator[Fault]:
    """The plugin reports no error when no device matches, and pods stay Pending."""
    classes = nodes.classes
    for name, build in classes.items():
        nics = build.nics_for(RAILS)
        if nics is None:
            continue
        key, device = f"drawbridge_nodes.classes.{name}.nics[{build.nics.index(nics)}].device", nics.device
        if device in VIRTUAL_FUNCTIONS:
            reason = "this is a virtual function, and rails are physical ports"
            yield Fault(key, device, reason, "write the physical port's id from `lspci -nn`, such as 15b3:1021")
        elif device and device not in RDMA_DEVICES:
            known = ", ".join(f"{known} ({title})" for known, title in RDMA_DEVICES.items() if known[:4] == device[:4])
            repair = f"use one of {known or ', '.join(RDMA_DEVICES)}"
            yield Fault(key, device, "no known RoCE NIC has this id", repair)
        elif not device and any(other.device for it in classes.values() if (other := it.nics_for(RAILS))):
            reason = "other node classes have one, and the plugin would use those ids on these nodes too"
            yield Fault(key, device, reason, "set device for all node classes, or for none")


def rails_are_the_same_everywhere(nodes: Nodes, kube: Kube) -> Iterator[Fault]:
    """The plugin has one configuration for all nodes, so a network device must be the same rail on each."""
    rails: dict[str, tuple[int, str]] = {}
    for name, build in nodes.classes.items():
        for rail, netdev in enumerate(build.rails):
            other, where = rails.setdefault(netdev, (rail, name))
            if other != rail and kube.rdma.install:
                reason = f"{netdev} is rail {rail} here and rail {other} in class {where}, but pods request rails"
                repair = "name the ports by their rails on all nodes"
                yield Fault(f"drawbridge_nodes.classes.{name}.nics", netdev, reason, repair)
                break


def resources_are_distinct(nodes: Nodes, kube: Kube) -> Iterator[Fault]:
    """The plugin exits when two resources have one name; a resource without rails has no devices."""
    resources = kube.rdma.resources
    yield from doubled(f"{RDMA}.resources", [part.name for part in resources], "give every resource its own name")
    most = max((len(build.rails) for build in nodes.classes.values()), default=0)
    for index, part in enumerate(resources):
        key = f"{RDMA}.resources[{index}].rails"
        if not part.rails:
            yield Fault(key, [], f"rdma/{part.name} would have no devices", "list its rails")
        yield from doubled(key, [str(rail) for rail in part.rails], "list every rail once")
        if beyond := [rail for rail in part.rails if rail >= most]:
            yield Fault(key, list(part.rails), f"no node class has a rail {beyond[0]}", f"use 0 to {most - 1}")


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
