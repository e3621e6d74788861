# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm accounting: quality of service, accounts, shares and limits."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import NAME, option

TIME = r"[0-9]+|[0-9]+:[0-5][0-9]:[0-5][0-9]|[0-9]+-[0-9]{1,2}(:[0-5][0-9]){0,2}"
"""A time limit that is unambiguous: Slurm reads 4:00 as four minutes."""


@dataclass(frozen=True)
class Amount:
    """A limit of the resources that jobs use."""

    cpus: int = option("hardware threads; -1: no limit", -1, low=-1)
    memory_mib: int = option("memory; -1: no limit", -1, low=-1)
    gpus: int = option("GPUs of any type; -1: no limit", -1, low=-1)
    nodes: int = option("nodes; -1: no limit", -1, low=-1)


@dataclass(frozen=True)
class Qos:
    """A quality of service: its priority, the QOS that it preempts, and its limits."""

    name: str = option("name of the QOS; Slurm itself creates normal", pattern=NAME)
    priority: int = option("its weight among all QOS", 0, low=0, high=1000000)
    preempt: tuple[str, ...] = option("QOS whose jobs it preempts", (), pattern=NAME)
    preempt_mode: str = option(
        "how its own jobs are preempted; cluster: preempt_mode of the cluster",
        "cluster",
        choices=("cluster", "requeue", "cancel"),
    )
    total: Amount = option("limit of all its running jobs together", Amount())
    per_user: Amount = option("limit of one user's running jobs together", Amount())
    per_job: Amount = option("limit of one job", Amount())
    jobs_per_user: int = option("running jobs of one user; -1: no limit", -1, low=-1)
    submits_per_user: int = option("running and waiting jobs of one user; -1: no limit", -1, low=-1)
    max_time: str = option(
        "longest time limit of a job: minutes, h:mm:ss or days-hours (empty: the partition's)",
        "",
        pattern=rf"({TIME})?",
    )


@dataclass(frozen=True)
class Account:
    """A Slurm account, its share of the cluster, and the Kubernetes namespace that its jobs use."""

    name: str = option("name of the account", pattern=NAME)
    namespace: str = option("namespace of its pods; at most 46 characters", "", pattern=rf"({NAME})?")
    users: tuple[str, ...] = option("login names", (), pattern=r"[a-z_][a-z0-9_-]*")
    parent: str = option("its parent account", "root", pattern=NAME)
    fair_share: int = option("its share among the accounts of the same parent", 1, low=0, high=1000000)
    qos: tuple[str, ...] = option("QOS that its jobs may use; empty: the parent's, at the top normal", (), pattern=NAME)
    default_qos: str = option("QOS of jobs that name none (empty: the parent's)", "", pattern=rf"({NAME})?")
    total: Amount = option("limit of all its running jobs together", Amount())
    per_job: Amount = option("limit of one job", Amount())
    jobs: int = option("running jobs; -1: no limit", -1, low=-1)
    submits: int = option("running and waiting jobs; -1: no limit", -1, low=-1)
    max_time: str = option("longest time limit of a job; empty: the parent's", "", pattern=rf"({TIME})?")


@dataclass(frozen=True)
class Absent:
    """Accounts and QOS to delete. Others that the intent does not declare are left alone."""

    accounts: tuple[str, ...] = option("accounts to delete from the cluster, with their users", (), pattern=NAME)
    qos: tuple[str, ...] = option("qualities of service to delete", (), pattern=NAME)
