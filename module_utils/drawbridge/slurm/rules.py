# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of partitions and of accounts' namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist
from ..core.faults import Fault
from ..core.rules import doubled
from ..nodes.model import Nodes
from .model import Slurm


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
        reason, repair = "only one partition can be the default", f"leave default: true on {defaults[0]} alone"
        yield Fault("drawbridge_slurm.partitions", defaults, reason, repair)


def gated_accounts_have_namespaces(slurm: Slurm) -> Iterator[Fault]:
    """A job's namespace comes from its account; two accounts with one namespace could read each other's pods."""
    if any(partition.gate for partition in slurm.partitions):
        for index, account in enumerate(slurm.accounts):
            key = f"drawbridge_slurm.accounts[{index}].namespace"
            if not account.namespace:
                reason = "a partition has gate: true, and a job's pods run in the namespace of its account"
                yield Fault(key, account.namespace, reason, f"set namespace: {account.name}")
            elif len(account.namespace) > 46:
                reason = "a node's taint holds namespace and job id, together at most 63 characters"
                yield Fault(key, account.namespace, reason, "use at most 46 characters")
    names = [account.name for account in slurm.accounts]
    yield from doubled("drawbridge_slurm.accounts", names, "give every account a name of its own")
    spaces = [account.namespace for account in slurm.accounts if account.namespace]
    yield from doubled("drawbridge_slurm.accounts", spaces, "give every account a namespace of its own")


RULES = (
    partitions_hold_known_nodes,
    gated_accounts_have_namespaces,
)
