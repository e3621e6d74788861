# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of partitions: who may use them, time limits, and node classes with settings of their own."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist
from ..core.faults import Fault
from ..core.rules import doubled
from ..nodes.model import Nodes
from .accounting.terms import minutes
from .model import Partition, Slurm


def _key(index: int, name: str) -> str:
    return f"drawbridge_slurm.partitions[{index}].{name}"


def default_times_fit(slurm: Slurm) -> Iterator[Fault]:
    """Slurm refuses jobs whose time limit is above the partition's, also if they took the default."""
    for index, partition in enumerate(slurm.partitions):
        most = minutes(partition.max_time) if partition.max_time != "UNLIMITED" else ""
        if most and int(minutes(partition.default_time) or 0) > int(most):
            reason = f"max_time is {partition.max_time}, and Slurm would refuse jobs without a time limit"
            repair = "lower default_time, or raise max_time"
            yield Fault(_key(index, "default_time"), partition.default_time, reason, repair)


def partitions_name_accounts_and_qos(slurm: Slurm) -> Iterator[Fault]:
    """QOS of partitions exist, and so do accounts of gated ones, since a job needs its account's namespace."""
    accounts = {account.name for account in slurm.accounts}
    qos = slurm.known_qos
    for index, partition in enumerate(slurm.partitions):
        for name in _missing(partition.allow_accounts, accounts) if partition.gate else ():
            reason = "drawbridge_slurm.accounts does not declare it, so its jobs have no namespace"
            repair = f"declare {name} with a namespace, or take it out"
            yield Fault(_key(index, "allow_accounts"), name, reason, repair)
        for place, names in (("allow_qos", partition.allow_qos), *_qos_settings(partition)):
            for name in _missing(names, qos):
                reason = "drawbridge_slurm.qos does not declare it"
                repair = f"declare it, list it in drawbridge_slurm.qos_of_site, or use one of {', '.join(sorted(qos))}"
                yield Fault(_key(index, place), name, reason, repair)
        for place, names in (("allow_accounts", partition.allow_accounts), ("allow_qos", partition.allow_qos)):
            yield from doubled(_key(index, place), list(names), "name each once")


def partitions_do_not_allow_and_deny(slurm: Slurm) -> Iterator[Fault]:
    """Slurm ignores a deny list beside an allow list."""
    for index, partition in enumerate(slurm.partitions):
        for allow, deny in (("allow_accounts", "DenyAccounts"), ("allow_qos", "DenyQos")):
            if getattr(partition, allow) and deny in partition.settings:
                reason = f"{allow} is set too, and Slurm would ignore {deny}"
                place = _key(index, f"settings.{deny}")
                yield Fault(place, partition.settings[deny], reason, f"remove {deny} or {allow}")
        if {"DefMemPerCPU", "DefMemPerNode"} <= set(partition.settings):
            reason = "DefMemPerCPU is set too, and Slurm takes only one of them"
            place = _key(index, "settings.DefMemPerNode")
            yield Fault(place, partition.settings["DefMemPerNode"], reason, "remove one of them")


def alternates_exist(slurm: Slurm) -> Iterator[Fault]:
    """Slurm sends jobs of a closed partition to its alternate."""
    names = {partition.name for partition in slurm.partitions}
    for index, partition in enumerate(slurm.partitions):
        other = partition.settings.get("Alternate", "")
        if other and other not in names - {partition.name}:
            reason = "no other partition has that name"
            known = ", ".join(sorted(names - {partition.name})) or "none yet"
            yield Fault(_key(index, "settings.Alternate"), other, reason, f"use one of: {known}")


def node_settings_have_a_class(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """Lines of slurm.conf are those of node classes."""
    for name in slurm.node_settings:
        if name not in nodes.classes:
            known = ", ".join(sorted(nodes.classes)) or "none yet"
            key = f"drawbridge_slurm.node_settings.{name}"
            yield Fault(key, name, "drawbridge_nodes.classes has no class of that name", f"use one of: {known}")


def shards_are_of_shared_nodes(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """A gated job has its nodes and all their GPUs for itself, so nothing is left to share."""
    for name, build in nodes.classes.items():
        ranges = [part.names for part in nodes.ranges if part.node_class == name] if build.gpus.shards else []
        if gated := next((node for names in ranges for node in hostlist.expand(names) if slurm.gates(node)), ""):
            key = f"drawbridge_nodes.classes.{name}.gpus.shards"
            reason = f"{gated} is in a partition with gate: true, whose jobs get whole nodes"
            repair = "remove shards, or take the nodes of the class out of gated partitions"
            yield Fault(key, build.gpus.shards, reason, repair)


def _qos_settings(partition: Partition) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key in ("QOS", "DenyQos"):
        if key in partition.settings:
            yield f"settings.{key}", tuple(partition.settings[key].split(","))


def _missing(names: tuple[str, ...], known: set[str]) -> list[str]:
    return [name for name in names if name not in known]


RULES = (
    default_times_fit,
    partitions_name_accounts_and_qos,
    partitions_do_not_allow_and_deny,
    alternates_exist,
    node_settings_have_a_class,
    shards_are_of_shared_nodes,
)
