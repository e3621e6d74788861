# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm: its cluster, partitions, settings and the limits of the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..core.options import NAME, option
from .accounting.model import TIME, Absent, Account, Qos
from .packaging import PACKAGINGS
from .releases import RELEASES

ONE_LINE = r"[^\s\"#\\]([^\n\r\"#\\]*[^\s\"#\\])?"


@dataclass(frozen=True)
class Partition:
    """A Slurm partition."""

    name: str = option("name of the partition", pattern=NAME)
    nodes: str = option("hostlist of its nodes", hosts=True)
    gate: bool = option("true: its jobs get whole nodes, which Kubernetes may use while they run", False)
    default: bool = option("true: jobs without -p go here", False)
    max_time: str = option("longest time limit, as slurm.conf writes it", "UNLIMITED", pattern=rf"UNLIMITED|{TIME}")


@dataclass(frozen=True)
class Priority:
    """Weights of a job's priority: each factor from 0 to 1 is multiplied by its weight."""

    fair_share_weight: int = option("weight of the account's unused share", 100000, low=0)
    qos_weight: int = option("weight of the QOS, relative to the highest QOS priority", 1000000, low=0)
    age_weight: int = option("weight of the waiting time, up to max_age", 10000, low=0)
    size_weight: int = option("weight of the job's size", 0, low=0)
    max_age: str = option("waiting time after which a job's age factor stays the same", "7-0", pattern=TIME)
    half_life: str = option("time after which past use counts half", "7-0", pattern=TIME)
    recount_minutes: int = option("interval in which Slurm counts use", 5, low=1, high=1440)


@dataclass(frozen=True)
class Health:
    """The health check of nodes: mounts, munge, and GPUs against the node class."""

    interval_s: int = option("interval of each node's health check, in seconds; 0: only in playbooks", 300, low=0)


@dataclass(frozen=True)
class Gate:
    """Limits of the gate at the start and the end of a job in a gated partition."""

    patience_s: int = option("wait of a prolog or epilog for the API server, in seconds", 60, low=10, high=600)
    empty_s: int = option("wait of an epilog for its node to be empty; then the node is drained", 90, low=10, high=900)
    pod_grace_s: int = option("seconds that a pod has to end once its job is over", 10, low=1, high=120)
    tries: int = option("times in a row that a job's nodes may fail to open before the job is held", 5, low=1, high=20)
    pods_per_node: int = option("pods per gated node, for one workload and one job namespace", 110, low=1, high=1000)


@dataclass(frozen=True)
class Slurm:
    """drawbridge_slurm: the scheduler, which owns every node."""

    cluster: str = option("ClusterName", pattern=NAME)
    controller: str = option("inventory name of the host of slurmctld and slurmdbd", pattern=NAME)
    partitions: tuple[Partition, ...] = option("partitions")
    accounts: tuple[Account, ...] = option("accounts", ())
    kill_wait_s: int = option("seconds between SIGTERM and SIGKILL of a job (KillWait)", 30, low=5, high=3600)
    part_timeout_s: int = option("limit of each part of a prolog or epilog, in seconds", 300, low=30, high=3000)
    gate: Gate = option("limits of the gate, for partitions with gate: true", Gate())
    qos: tuple[Qos, ...] = option("qualities of service", ())
    absent: Absent = option("accounts and QOS to delete", Absent())
    priority: Priority = option("weights of a job's priority", Priority())
    preempt_mode: str = option("how jobs are preempted", "requeue", choices=("requeue", "cancel"))
    version: str = option("Slurm's release on all hosts", "24.11", choices=tuple(RELEASES))
    packages: str = option("distributor of Slurm's packages", "debian", choices=tuple(PACKAGINGS))
    health: Health = option("the health check of nodes", Health())
    topology: str = option(
        "tree: a job that fits stays in one leaf; block: jobs get whole leaves; none: the network is flat",
        "tree",
        choices=("tree", "block", "none"),
    )
    settings: Mapping[str, str] = option(
        "the site's own lines of slurm.conf, such as SlurmdTimeout: '600' (lists are merged with Drawbridge's)",
        MappingProxyType({}),
        pattern=ONE_LINE,
    )
