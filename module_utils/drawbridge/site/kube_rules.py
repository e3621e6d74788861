# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of Kubernetes: what runs always runs on nodes that are never gated."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist
from ..core.faults import Fault
from ..core.names import GATE_ACCOUNTS, GATE_NAMESPACE, NODE_ACCOUNTS, NODES_NAMESPACE
from ..core.rules import doubled
from .model import Intent


def infra_is_not_gated(intent: Intent) -> Iterator[Fault]:
    """Infra nodes run what must run always; a gated node is closed between jobs."""
    gated = {name for part in intent.slurm.partitions if part.gate for name in hostlist.expand(part.nodes)}
    if both := [name for name in hostlist.expand(intent.kube.infra) if name in gated]:
        yield Fault(
            "drawbridge_kube.infra",
            intent.kube.infra,
            f"{hostlist.compress(both)} is in a partition with gate: true, and would be closed between jobs",
            "use nodes that no gated partition has",
        )


def infra_namespaces_are_infrastructure(intent: Intent) -> Iterator[Fault]:
    """Pods of these namespaces may run on closed nodes: theirs alone is what keeps a node alive."""
    key, spaces = "drawbridge_kube.infra_namespaces", intent.kube.infra_namespaces
    if "kube-system" not in spaces:
        yield Fault(key, list(spaces), "the network of closed nodes is made by pods of kube-system", "add kube-system")
    if "default" in spaces:
        reason = "whoever may use the namespace default could run on closed nodes"
        yield Fault(key, list(spaces), reason, "move what needs all nodes into a namespace of its own")
    if own := [name for name in spaces if name in (GATE_NAMESPACE, NODES_NAMESPACE)]:
        yield Fault(key, list(spaces), f"{own[0]} is the gate's own and is labelled anyway", f"take {own[0]} out")
    yield from doubled(key, list(spaces), "list every namespace once")


def jobs_have_namespaces_to_themselves(intent: Intent) -> Iterator[Fault]:
    """In a namespace of jobs nothing else can run."""
    for index, account in enumerate(intent.slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}].namespace"
        if account.namespace in intent.kube.infra_namespaces:
            yield Fault(
                key,
                account.namespace,
                "drawbridge_kube.infra_namespaces lists it too, and a namespace is for jobs or for infrastructure",
                "use another namespace, or take it out of infra_namespaces",
            )
        elif account.namespace == "default" or account.namespace.startswith(("kube-", "drawbridge-")):
            reason = "Kubernetes or the gate uses it, and in a namespace of jobs nothing else can run"
            yield Fault(key, account.namespace, reason, f"use a namespace of its own, such as {account.name}-jobs")


def schedulers_can_schedule(intent: Intent) -> Iterator[Fault]:
    """Pods of jobs are bound by Kubernetes' own scheduler."""
    key, names = "drawbridge_kube.schedulers", intent.kube.schedulers
    if "system:kube-scheduler" not in names:
        yield Fault(
            key, list(names), "without Kubernetes' own scheduler no pod of a job is bound", "add system:kube-scheduler"
        )
    if people := [name for name in names if not name.startswith("system:")]:
        reason = f"{people[0]} is a person's name, and who binds a pod goes past every taint"
        yield Fault(key, list(names), reason, "list system:kube-scheduler and schedulers' ServiceAccounts only")
    if gates := [name for name in names if name.startswith((GATE_ACCOUNTS, NODE_ACCOUNTS, "system:node:"))]:
        yield Fault(
            key, list(names), f"{gates[0]} opens or closes nodes and must not fill them", f"take {gates[0]} out"
        )
    yield from doubled(key, list(names), "list every scheduler once")


def controllers_are_infrastructure(intent: Intent) -> Iterator[Fault]:
    """Who makes pods of jobs is trusted with them: nobody of a tenant, and not the gate."""
    jobs = {account.namespace for account in intent.slurm.accounts}
    for name, account in vars(intent.kube.controllers).items():
        key, space = f"drawbridge_kube.controllers.{name}", account.partition("/")[0]
        if account and space in (*jobs, "default", GATE_NAMESPACE, NODES_NAMESPACE):
            reason = f"whoever may use the namespace {space} could make pods in the name of any job"
            yield Fault(key, account, reason, "give the controller a namespace of its own")


def trainer_has_jobset(intent: Intent) -> Iterator[Fault]:
    """Trainer makes JobSets, and leaves it to JobSet's controller to make something of them."""
    controllers = intent.kube.controllers
    if controllers.trainer and not controllers.jobset:
        yield Fault(
            "drawbridge_kube.controllers.jobset",
            "",
            f"Trainer (drawbridge_kube.controllers.trainer, {controllers.trainer}) makes JobSets, of which pods come "
            "only by JobSet's controller",
            "name its account, such as jobset-system/jobset-controller-manager, or take trainer out",
        )


RULES = (
    infra_is_not_gated,
    infra_namespaces_are_infrastructure,
    jobs_have_namespaces_to_themselves,
    schedulers_can_schedule,
    controllers_are_infrastructure,
    trainer_has_jobset,
)
