# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm: its cluster, partitions, settings and the limits of the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..core import hostlist
from ..core.options import FILE, HOSTS, Shape, content, option
from .accounting.model import ACCOUNT, HOST, LIMIT, NORMAL, ONE_LINE, TIME, Absent, Account, Qos, Storage
from .logins.model import NodeLogins
from .packaging import PACKAGINGS
from .releases import RELEASES

PARTITION = Shape(
    r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,62}",
    "the name of a partition",
    "at most 63 letters, digits, dots, dashes, underscores and +, such as train",
)
CLUSTER = Shape(
    r"[a-z0-9][a-z0-9_-]{0,39}",
    "a ClusterName",
    "at most 40 small letters, digits, dashes and underscores, such as hpc1",
)
"""Slurm makes it a part of the names of tables: at most 40 characters, no capitals."""
PART = Shape(
    r"[0-9]{2}-[A-Za-z0-9_-]{1,60}",
    "two digits, a dash and a word",
    "letters, digits, dashes and underscores, such as 20-scratch",
)
"""Name of a part of a prolog, an epilog or a health check: its place in the order, then a word."""


@dataclass(frozen=True)
class Partition:
    """A Slurm partition."""

    name: str = option("name of the partition", pattern=PARTITION)
    nodes: str = option("hostlist of its nodes", hosts=HOSTS)
    gate: bool = option("true: its jobs get whole nodes, which Kubernetes may use while they run", False)
    default: bool = option("true: jobs without -p go here", False)
    max_time: str = option("longest time limit, as slurm.conf writes it", "UNLIMITED", pattern=LIMIT)
    default_time: str = option("time limit of jobs that set none (empty: max_time)", "", pattern=TIME)
    allow_accounts: tuple[str, ...] = option("accounts that may use it (empty: all)", (), pattern=ACCOUNT)
    allow_qos: tuple[str, ...] = option("QOS that may use it (empty: all)", (), pattern=ACCOUNT)
    priority_tier: int = option("jobs of a higher tier are scheduled first", 1, low=0, high=65533)
    settings: Mapping[str, str] = option(
        "further keys of its line in slurm.conf, such as MaxNodes: '8'", MappingProxyType({}), pattern=ONE_LINE
    )


@dataclass(frozen=True)
class Script:
    """A program of the site that runs as a part of one of Slurm's scripts."""

    name: str = option("its place in the order and a word, such as 20-scratch (the gate is 50-gate)", pattern=PART)
    path: str = option("absolute path of the program, which the site installs", pattern=FILE)


@dataclass(frozen=True)
class Scripts:
    """Programs of the site beside Drawbridge's parts. They must exist on all hosts that run them."""

    prolog: tuple[Script, ...] = option("on each node before a job, as root", ())
    epilog: tuple[Script, ...] = option("on each node after a job, as root, in reverse order", ())
    prolog_slurmctld: tuple[Script, ...] = option("on the controller before a job, as Slurm's user", ())
    epilog_slurmctld: tuple[Script, ...] = option(
        "on the controller after a job, as Slurm's user, in reverse order", ()
    )
    health: tuple[Script, ...] = option("on each node, as root: exit code 1 drains it, with the first printed line", ())


@dataclass(frozen=True)
class Lua:
    """A Lua script of the site that runs at submission, beside Drawbridge's checks."""

    script: str = content("its text, for example from lookup('ansible.builtin.file', ...) (empty: none)")
    order: str = option(
        "before: it runs before Drawbridge's checks; after: it runs after them, and they run again on its result",
        "before",
        choices=("before", "after"),
    )


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
class Maintenance:
    """Limits of rolling maintenance: how many nodes it may find or take out of service at once."""

    partition_percent: int = option("of each partition's nodes; one node may always be", 10, low=1, high=100)
    unit_percent: int = option("of the nodes with the same leaf switches; one node may always be", 25, low=1, high=100)


@dataclass(frozen=True)
class Gate:
    """Limits of the gate at the start and the end of a job in a gated partition."""

    patience_s: int = option("wait of a prolog or epilog for the API server, in seconds", 60, low=10, high=600)
    empty_s: int = option("wait of an epilog for its node to be empty; then the node is drained", 90, low=10, high=900)
    pod_grace_s: int = option("seconds that a pod has to end once its job is over", 10, low=1, high=120)
    tries: int = option("times in a row that a job's nodes may fail to open before the job is held", 5, low=1, high=20)
    pods_per_node: int = option("pods per gated node, for one workload and one job namespace", 110, low=1, high=1000)
    objects: int = option("ConfigMaps of a job namespace, and as many Secrets and Services", 1000, low=20, high=100000)


@dataclass(frozen=True)
class Slurm:
    """drawbridge_slurm: the scheduler, which owns every node."""

    cluster: str = option("ClusterName, in small letters", pattern=CLUSTER)
    controller: str = option("inventory name of the host of slurmctld and slurmdbd", pattern=HOSTS)
    partitions: tuple[Partition, ...] = option("partitions")
    accounts: tuple[Account, ...] = option("accounts", ())
    kill_wait_s: int = option("seconds between SIGTERM and SIGKILL of a job (KillWait)", 30, low=5, high=3600)
    part_timeout_s: int = option("limit of each part of a prolog or epilog, in seconds", 300, low=30, high=3000)
    gate: Gate = option("limits of the gate, for partitions with gate: true", Gate())
    qos: tuple[Qos, ...] = option("qualities of service", ())
    qos_of_site: tuple[str, ...] = option(
        "QOS that others declare in slurmdbd: partitions and accounts may name them", (), pattern=ACCOUNT
    )
    absent: Absent = option("accounts and QOS to delete", Absent())
    priority: Priority = option("weights of a job's priority", Priority())
    preempt_mode: str = option("how jobs are preempted", "requeue", choices=("requeue", "cancel"))
    version: str = option("Slurm's release on all hosts", "24.11", choices=tuple(RELEASES))
    packages: str = option("distributor of Slurm's packages", "debian", choices=tuple(PACKAGINGS))
    health: Health = option("the health check of nodes", Health())
    maintenance: Maintenance = option("limits of rolling maintenance", Maintenance())
    topology: str = option(
        "tree: a job that fits stays in one leaf; block: jobs get whole leaves; none: the network is flat",
        "tree",
        choices=("tree", "block", "none"),
    )
    controller_address: str = option(
        "address at which all hosts reach slurmctld (empty: the controller's name)", "", pattern=HOST
    )
    accounting: Storage = option("slurmdbd and its database", Storage())
    scripts: Scripts = option("the site's own parts of prologs, epilogs and health checks", Scripts())
    job_submit: Lua = option("the site's job_submit.lua", Lua())
    cli_filter: Lua = option("the site's cli_filter.lua", Lua())
    node_logins: NodeLogins = option("who may log in to nodes", NodeLogins())
    node_settings: dict[str, Mapping[str, str]] = option(
        "further keys of the nodes' lines in slurm.conf, by node class, such as h100: {Weight: '10'}",
        MappingProxyType({}),
        pattern=ONE_LINE,
    )
    gres_lines: tuple[str, ...] = option(
        "the site's own lines of gres.conf, for other resources than GPUs, such as NodeName=a1 Name=nvme Count=2",
        (),
        pattern=ONE_LINE,
    )
    cgroup_settings: Mapping[str, str] = option(
        "the site's own lines of cgroup.conf, such as AllowedRAMSpace: '98'", MappingProxyType({}), pattern=ONE_LINE
    )
    settings: Mapping[str, str] = option(
        "the site's own lines of slurm.conf, such as SlurmdTimeout: '600' (lists are merged with Drawbridge's)",
        MappingProxyType({}),
        pattern=ONE_LINE,
    )

    @property
    def known_qos(self) -> set[str]:
        """QOS that exist: Slurm's own, those of the intent and those of others."""
        return {NORMAL, *(qos.name for qos in self.qos), *self.qos_of_site}

    def gates(self, name: str) -> bool:
        """Whether a partition with C(gate: true) has this node."""
        return any(part.gate and hostlist.contains(part.nodes, name) for part in self.partitions)
