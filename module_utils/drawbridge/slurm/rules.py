# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of partitions, of accounts' namespaces, and of the gate's time limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..core import hostlist
from ..core.faults import Fault
from ..core.loopback import ON_ONE_HOST, REPAIR, is_loopback
from ..core.rules import doubled
from ..nodes.model import Nodes
from .config.text import HIDDEN
from .model import Slurm

ENDING_S = 20
"""Time of the kubelet beyond a pod's grace, and of the second look of the proof."""
START_S = 30
"""Time that an epilog needs before and after its waits."""
PROLOG_S = 60
"""Time that a prolog of the gate waits beside patience_s."""


def namespace_of(account: str) -> str:
    """A name for an account's namespace: a DNS label, which has neither dots nor underscores."""
    return re.sub("[^a-z0-9]+", "-", account).strip("-")


def _gated(slurm: Slurm) -> bool:
    return any(partition.gate for partition in slurm.partitions)


def partitions_hold_known_nodes(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """A partition's nodes are in the intent; at most one partition is the default."""
    known = nodes.by_name
    for index, partition in enumerate(slurm.partitions):
        key = f"drawbridge_slurm.partitions[{index}].nodes"
        if unknown := [name for name in hostlist.expand(partition.nodes) if name not in known]:
            reason = f"drawbridge_nodes.ranges has no {hostlist.compress(unknown)}"
            yield Fault(key, partition.nodes, reason, "add them to a range, or remove them from the partition")
    names = [partition.name for partition in slurm.partitions]
    yield from doubled("drawbridge_slurm.partitions", names, "give every partition a name of its own")
    defaults = [partition.name for partition in slurm.partitions if partition.default]
    if len(defaults) > 1:
        reason, repair = "Slurm takes the last one alone", f"leave default: true on {defaults[-1]} alone"
        yield Fault("drawbridge_slurm.partitions", defaults, reason, repair)


def controller_is_one_host(slurm: Slurm) -> Iterator[Fault]:
    """Daemons of all hosts connect to it."""
    for key in ("controller", "controller_address"):
        if is_loopback(getattr(slurm, key)):
            yield Fault(f"drawbridge_slurm.{key}", getattr(slurm, key), ON_ONE_HOST, REPAIR)


def masks_are_no_values(slurm: Slurm) -> Iterator[Fault]:
    """Reports and diffs hide secrets; a line that was copied from one would be taken as it stands there."""
    own: list[tuple[str, Mapping[str, str]]] = [
        ("settings", slurm.settings),
        ("cgroup_settings", slurm.cgroup_settings),
        ("accounting.settings", slurm.accounting.settings),
        *((f"node_settings.{name}", values) for name, values in slurm.node_settings.items()),
        *((f"partitions[{at}].settings", partition.settings) for at, partition in enumerate(slurm.partitions)),
    ]
    for place, values in own:
        for key in (key for key, value in values.items() if value == HIDDEN):
            reason = "reports write it in the place of a secret"
            yield Fault(f"drawbridge_slurm.{place}.{key}", HIDDEN, reason, "write the value itself")


def gated_accounts_have_namespaces(slurm: Slurm) -> Iterator[Fault]:
    """A job's namespace comes from its account; two accounts with one namespace could read each other's pods."""
    if _gated(slurm):
        for index, account in enumerate(slurm.accounts):
            key = f"drawbridge_slurm.accounts[{index}].namespace"
            if not account.namespace:
                reason = "a partition has gate: true, and a job's pods run in the namespace of its account"
                yield Fault(key, account.namespace, reason, f"set namespace: {namespace_of(account.name)}")
            elif len(account.namespace) > 46:
                reason = "a node's taint holds namespace and job id, together at most 63 characters"
                yield Fault(key, account.namespace, reason, "use at most 46 characters")
    names = [account.name for account in slurm.accounts]
    yield from doubled("drawbridge_slurm.accounts", names, "give every account a name of its own")
    spaces = [account.namespace for account in slurm.accounts if account.namespace]
    yield from doubled("drawbridge_slurm.accounts", spaces, "give every account a namespace of its own")


def epilog_outlasts_the_pods(slurm: Slurm) -> Iterator[Fault]:
    """An epilog that gives up before the pods' grace is over drains a healthy node after every job."""
    gate = slurm.gate
    needed = gate.pod_grace_s + ENDING_S
    if _gated(slurm) and gate.empty_s < needed:
        yield Fault(
            "drawbridge_slurm.gate.empty_s",
            gate.empty_s,
            f"pods may need drawbridge_slurm.gate.pod_grace_s ({gate.pod_grace_s}) and their kubelet {ENDING_S} s more",
            f"set empty_s: {needed}, or a shorter pod_grace_s",
        )


def dispatcher_outlasts_the_gate(slurm: Slurm) -> Iterator[Fault]:
    """A killed part can't set its drain reason, and nothing lifts a drain with Slurm's own reason."""
    gate = slurm.gate
    needed = gate.patience_s + max(gate.empty_s, gate.patience_s + PROLOG_S) + START_S
    if _gated(slurm) and slurm.part_timeout_s < needed:
        yield Fault(
            "drawbridge_slurm.part_timeout_s",
            slurm.part_timeout_s,
            f"the gate's prolog may wait twice patience_s ({gate.patience_s}) of drawbridge_slurm.gate and {PROLOG_S} "
            f"s more, the epilog patience_s and empty_s ({gate.empty_s}). If killed, neither sets a drain reason",
            f"set part_timeout_s: {needed}, or shorter waits",
        )


def jobs_outlast_their_pods(slurm: Slurm) -> Iterator[Fault]:
    """A batch script ends its pods at SIGTERM and must still run when they have ended."""
    if _gated(slurm) and slurm.kill_wait_s < slurm.gate.pod_grace_s:
        yield Fault(
            "drawbridge_slurm.kill_wait_s",
            slurm.kill_wait_s,
            f"at its time limit a job would be killed before the grace of its pods is over "
            f"(drawbridge_slurm.gate.pod_grace_s, {slurm.gate.pod_grace_s})",
            f"set kill_wait_s: {slurm.gate.pod_grace_s}, or a shorter pod_grace_s",
        )


RULES = (
    partitions_hold_known_nodes,
    controller_is_one_host,
    masks_are_no_values,
    gated_accounts_have_namespaces,
    epilog_outlasts_the_pods,
    dispatcher_outlasts_the_gate,
    jobs_outlast_their_pods,
)
