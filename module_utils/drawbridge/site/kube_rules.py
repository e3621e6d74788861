# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between Kubernetes and Slurm."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from ..core import hostlist
from ..core.faults import MISSING, Fault
from ..core.loopback import ON_ONE_HOST, REPAIR, is_loopback
from ..core.names import GATE_ACCOUNTS, GATE_NAMESPACE, INSTALLER_NAMESPACE, NODE_ACCOUNTS, NODES_NAMESPACE
from ..core.rules import doubled
from ..kube.gpu_resources import MIXED, NONE, SINGLE, gpu_resources, is_uniform
from ..kube.model import Kube
from ..kube.releases.values import leaves
from ..nodes.model import Gpus, Nodes
from ..slurm.model import Slurm
from ..slurm.rules import namespace_of
from .pod_view import gated_classes, gated_nodes

KUBELET, CONTAINERD = ("kubelet",), ("containerd", "containerd.io")
"""Names of packages that contain them."""


def api_server_is_the_sites(kube: Kube) -> Iterator[Fault]:
    """Kubelets may use a load balancer on their own host, as kubespray, RKE2, K3s and k0s set it up."""
    if is_loopback(urlsplit(kube.api_server).hostname or ""):
        yield Fault("drawbridge_kube.api_server", kube.api_server, ON_ONE_HOST, f"{REPAIR}: kubectl cluster-info")


def gated_partitions_need_kubernetes(slurm: Slurm, kube: Kube | None) -> Iterator[Fault]:
    """The gate opens nodes of Kubernetes to pods of a job."""
    for index, partition in enumerate(slurm.partitions if kube is None else ()):
        if partition.gate:
            reason = "its jobs run pods, and drawbridge_kube is not defined"
            repair = "define drawbridge_kube in group_vars/all, or set gate: false"
            yield Fault(f"drawbridge_slurm.partitions[{index}].gate", True, reason, repair)


def infra_is_not_gated(slurm: Slurm, kube: Kube) -> Iterator[Fault]:
    """Infra nodes run non-job pods; a gated node is closed between jobs."""
    gated = set(gated_nodes(slurm))
    if both := [name for name in hostlist.expand(kube.infra) if name in gated]:
        yield Fault(
            "drawbridge_kube.infra",
            kube.infra,
            f"{hostlist.compress(both)} is in a partition with gate: true, and would be closed between jobs",
            "use nodes that no gated partition has",
        )


def infra_namespaces_are_infrastructure(kube: Kube) -> Iterator[Fault]:
    """Pods of these namespaces may run on closed nodes, so the list must be neither too short nor too long."""
    key, spaces = "drawbridge_kube.infra_namespaces", kube.infra_namespaces
    if "kube-system" not in spaces:
        yield Fault(key, list(spaces), "pods of kube-system make the network of closed nodes", "add kube-system")
    if "default" in spaces:
        reason = "all users of the namespace default could run pods on closed nodes"
        yield Fault(key, list(spaces), reason, "move pods that need all nodes into a namespace of their own")
    if own := [name for name in spaces if name in (GATE_NAMESPACE, NODES_NAMESPACE)]:
        yield Fault(key, list(spaces), f"{own[0]} belongs to the gate and is always labelled", f"take {own[0]} out")
    if INSTALLER_NAMESPACE in spaces:
        reason = f"the gate tries in {INSTALLER_NAMESPACE} whether its policies refuse a pod, and they exempt this list"
        yield Fault(key, list(spaces), reason, f"take {INSTALLER_NAMESPACE} out")
    yield from doubled(key, list(spaces), "list every namespace once")


def jobs_have_namespaces_to_themselves(slurm: Slurm, kube: Kube) -> Iterator[Fault]:
    """A job namespace holds nothing but jobs."""
    for index, account in enumerate(slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}].namespace"
        if account.namespace in kube.infra_namespaces:
            yield Fault(
                key,
                account.namespace,
                "drawbridge_kube.infra_namespaces lists it too, but a job namespace holds nothing but jobs",
                "use another namespace, or take it out of infra_namespaces",
            )
        elif account.namespace == "default" or account.namespace.startswith(("kube-", "drawbridge-")):
            reason = "Kubernetes or the gate uses it, but a job namespace holds nothing but jobs"
            yield Fault(
                key, account.namespace, reason, f"use a namespace of its own, such as {namespace_of(account.name)}-jobs"
            )


def schedulers_can_schedule(kube: Kube) -> Iterator[Fault]:
    """Kubernetes' own scheduler binds pods of jobs."""
    key, names = "drawbridge_kube.schedulers", kube.schedulers
    if "system:kube-scheduler" not in names:
        yield Fault(
            key, list(names), "without Kubernetes' own scheduler no pod of a job is bound", "add system:kube-scheduler"
        )
    if people := [name for name in names if not name.startswith("system:")]:
        reason = f"{people[0]} is no system account, and a scheduler's binding ignores every taint"
        yield Fault(key, list(names), reason, "list system:kube-scheduler and schedulers' ServiceAccounts only")
    if gates := [name for name in names if name.startswith((GATE_ACCOUNTS, NODE_ACCOUNTS, "system:node:"))]:
        yield Fault(
            key, list(names), f"{gates[0]} opens or closes nodes and must not bind pods", f"take {gates[0]} out"
        )
    yield from doubled(key, list(names), "list every scheduler once")


def controllers_are_infrastructure(slurm: Slurm, kube: Kube) -> Iterator[Fault]:
    """A controller makes pods of jobs, so no tenant and no part of the gate may use its namespace."""
    jobs = {account.namespace for account in slurm.accounts}
    for name, account in vars(kube.controllers).items():
        key, space = f"drawbridge_kube.controllers.{name}", account.partition("/")[0]
        if account and space in (*jobs, "default", GATE_NAMESPACE, NODES_NAMESPACE, INSTALLER_NAMESPACE):
            reason = f"all users of the namespace {space} could make pods in the name of any job"
            yield Fault(key, account, reason, "give the controller a namespace of its own")


def trainer_has_jobset(kube: Kube) -> Iterator[Fault]:
    """Trainer makes JobSets, and only JobSet's controller makes pods from them."""
    controllers = kube.controllers
    if controllers.trainer and not controllers.jobset:
        yield Fault(
            "drawbridge_kube.controllers.jobset",
            "",
            f"Trainer (drawbridge_kube.controllers.trainer, {controllers.trainer}) makes JobSets, and only JobSet's "
            "controller makes pods from them",
            "name its account, such as jobset-system/jobset-controller-manager, or take trainer out",
        )


def pods_get_all_instances(nodes: Nodes, slurm: Slurm, kube: Kube) -> Iterator[Fault]:
    """A gated job's pods request all instances of a node, by names that the strategy gives them."""
    key, strategy = "drawbridge_kube.gpu_operator.mig_strategy", kube.gpu_operator.mig_strategy
    repair = f"set mig_strategy: {MIXED}, or leave these nodes out of partitions with gate: true"
    for name, gpus in _divided_and_gated(nodes, slurm).items():
        if strategy == NONE:
            reason = f"pods would get no instances of class {name}, and a gated partition has such nodes"
            yield Fault(key, strategy, reason, repair)
        elif strategy == SINGLE and not is_uniform(gpus):
            reason = f"the device plugin would not start on nodes of class {name}: with {strategy}, all GPUs of a node"
            yield Fault(key, strategy, f"{reason} need instances of one profile", repair)


def pods_see_all_instances(nodes: Nodes, slurm: Slurm, kube: Kube) -> Iterator[Fault]:
    """Without CDI the device plugin passes devices as a variable, of which a container has one value."""
    part = kube.gpu_operator
    if dict(leaves(part.values)).get(("cdi", "enabled"), True):
        return
    for name, gpus in _divided_and_gated(nodes, slurm).items():
        if len(found := gpu_resources(gpus, part.mig_strategy)) > 1:
            reason = f"pods on nodes of class {name} would see only the devices of one of {', '.join(found)}"
            yield Fault("drawbridge_kube.gpu_operator.values.cdi.enabled", False, reason, "remove it")


def _divided_and_gated(nodes: Nodes, slurm: Slurm) -> dict[str, Gpus]:
    """The GPUs of classes that are divided and have nodes in gated partitions."""
    if not any(build.gpus.divided for build in nodes.classes.values()):
        return {}
    return {name: build.gpus for name, build in gated_classes(nodes, slurm).items() if build.gpus.divided}


def packages_are_there(kube: Kube) -> Iterator[Fault]:
    """Drawbridge installs a kubelet and a container runtime if and only if it joins the nodes."""
    if kube.join != "drawbridge":
        yield from _without_effect(kube)
        return
    key, packages = "drawbridge_kube.packages", kube.packages
    names = [package.name for package in packages]
    for wanted in (KUBELET, CONTAINERD):
        if not set(wanted) & set(names):
            reason = f"Drawbridge joins the nodes (join: drawbridge), which needs {wanted[0]}"
            repair = f"add {{name: {wanted[0]}, version: ...}}, or set drawbridge_kube.join: site"
            yield Fault(key, names or MISSING, reason, repair)
    yield from doubled(key, names, "pin every package once")


def _without_effect(kube: Kube) -> Iterator[Fault]:
    """Keys that only a node uses that Drawbridge joins."""
    containerd = "Drawbridge does not configure containerd"
    sandbox = kube.sandbox_image if kube.sandbox_image != Kube.sandbox_image else ""
    unused = (
        ("packages", [package.name for package in kube.packages], "Drawbridge does not install them"),
        ("sources", kube.sources, "Drawbridge does not install packages"),
        ("registries", [registry.name for registry in kube.registries], containerd),
        ("sandbox_image", sandbox, containerd),
    )
    for key, value, reason in unused:
        if value:
            why = f"drawbridge_kube.join is site, so {reason}"
            yield Fault(f"drawbridge_kube.{key}", value, why, "leave it out, or set join: drawbridge")


RULES = (
    api_server_is_the_sites,
    gated_partitions_need_kubernetes,
    packages_are_there,
    infra_is_not_gated,
    infra_namespaces_are_infrastructure,
    jobs_have_namespaces_to_themselves,
    schedulers_can_schedule,
    controllers_are_infrastructure,
    trainer_has_jobset,
    pods_get_all_instances,
    pods_see_all_instances,
)
