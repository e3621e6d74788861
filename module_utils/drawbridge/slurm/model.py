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
    """Who is next: each factor from 0 to 1 by its weight."""

    fair_share_weight: int = option("an account's unused share", 100000, low=0)
    qos_weight: int = option("the job's QOS, beside the one of the highest priority", 1000000, low=0)
    age_weight: int = option("waiting time, up to max_age", 10000, low=0)
    size_weight: int = option("the job's size", 0, low=0)
    max_age: str = option("after so long a job gets no older", "7-0", pattern=TIME)
    half_life: str = option("after so long use counts half", "7-0", pattern=TIME)
    recount_minutes: int = option("how often use is counted", 5, low=1, high=1440)


@dataclass(frozen=True)
class Health:
    """How nodes look after themselves: what they mount, munge, and GPUs against their class."""

    interval_s: int = option("how often each node looks, in seconds; 0: only at a playbook's proof", 300, low=0)


@dataclass(frozen=True)
class Gate:
    """How long the gate waits for what, when jobs of gated partitions begin and end."""

    patience_s: int = option("wait of a prolog or epilog for the API server, in seconds", 60, low=10, high=600)
    empty_s: int = option("wait of an epilog for its node to be empty; then the node is drained", 90, low=10, high=900)
    pod_grace_s: int = option("what a pod gets to end once its job is over", 10, low=1, high=120)
    tries: int = option("so often in a row a job's nodes may fail to open before the job is held", 5, low=1, high=20)
    pods_per_node: int = option(
        "pods of jobs for each gated node: bounds one workload, and all that is in a namespace of jobs",
        110,
        low=1,
        high=1000,
    )


@dataclass(frozen=True)
class Slurm:
    """drawbridge_slurm: the scheduler that owns every node."""

    cluster: str = option("ClusterName", pattern=NAME)
    controller: str = option("inventory name of the host of slurmctld and slurmdbd", pattern=NAME)
    partitions: tuple[Partition, ...] = option("partitions")
    accounts: tuple[Account, ...] = option("accounts", ())
    kill_wait_s: int = option("what a job gets between SIGTERM and SIGKILL (KillWait)", 30, low=5, high=3600)
    part_timeout_s: int = option("limit of each part of a prolog or epilog, in seconds", 300, low=30, high=3000)
    gate: Gate = option("limits of the gate, for partitions with gate: true", Gate())
    qos: tuple[Qos, ...] = option("qualities of service", ())
    absent: Absent = option("accounts and QOS that must not be there any more", Absent())
    priority: Priority = option("what a job's priority is made of", Priority())
    preempt_mode: str = option("what happens to a job that is preempted", "requeue", choices=("requeue", "cancel"))
    version: str = option("Slurm's release on all hosts", "24.11", choices=tuple(RELEASES))
    packages: str = option(
        "whose packages Slurm comes in: the distribution's on Debian and Ubuntu, OpenHPC's, or SchedMD's own",
        "debian",
        choices=tuple(PACKAGINGS),
    )
    health: Health = option("how nodes look after themselves between playbooks", Health())
    topology: str = option(
        "tree: jobs stay in one leaf when they fit; block: they get whole leaves; none: the network is flat",
        "tree",
        choices=("tree", "block", "none"),
    )
    settings: Mapping[str, str] = option(
        "the site's own lines of slurm.conf, such as SlurmdTimeout: '600' (words join lists that are there)",
        MappingProxyType({}),
        pattern=ONE_LINE,
    )
