# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm accounting: quality of service, accounts, shares and limits."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import NAME, option

TIME = r"[0-9]+|[0-9]+:[0-5][0-9]:[0-5][0-9]|[0-9]+-[0-9]{1,2}(:[0-5][0-9]){0,2}"
"""A time limit that reads the same to people and to Slurm, which takes 4:00 for four minutes."""


@dataclass(frozen=True)
class Amount:
    """An amount of what jobs take."""

    cpus: int = option("hardware threads; -1: as many as there are", -1, low=-1)
    memory_mib: int = option("memory; -1: as much as there is", -1, low=-1)
    gpus: int = option("GPUs of any type; -1: as many as there are", -1, low=-1)
    nodes: int = option("nodes; -1: as many as there are", -1, low=-1)


@dataclass(frozen=True)
class Qos:
    """A quality of service: what a job may be worth, and whose jobs it may preempt."""

    name: str = option("name of the QOS; normal is the one that Slurm makes itself", pattern=NAME)
    priority: int = option("its weight among all QOS", 0, low=0, high=1000000)
    preempt: tuple[str, ...] = option("QOS whose jobs it preempts", (), pattern=NAME)
    preempt_mode: str = option(
        "what happens to its own jobs when they are preempted; cluster: preempt_mode of the cluster",
        "cluster",
        choices=("cluster", "requeue", "cancel"),
    )
    total: Amount = option("what all its running jobs take together at most", Amount())
    per_user: Amount = option("what one user's running jobs take together at most", Amount())
    per_job: Amount = option("what one job takes at most", Amount())
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
    parent: str = option("account above it, which shares with it", "root", pattern=NAME)
    fair_share: int = option("its share beside the accounts of the same parent", 1, low=0, high=1000000)
    qos: tuple[str, ...] = option(
        "QOS that its jobs may ask for; empty: the parent's, in the end normal", (), pattern=NAME
    )
    default_qos: str = option("QOS of jobs that ask for none (empty: the parent's)", "", pattern=rf"({NAME})?")
    total: Amount = option("what all its running jobs take together at most", Amount())
    per_job: Amount = option("what one job takes at most", Amount())
    jobs: int = option("running jobs; -1: no limit", -1, low=-1)
    submits: int = option("running and waiting jobs; -1: no limit", -1, low=-1)
    max_time: str = option("longest time limit of a job; empty: the parent's", "", pattern=rf"({TIME})?")


@dataclass(frozen=True)
class Absent:
    """What was declared once and must go. What was never declared is left alone, so going has to be said."""

    accounts: tuple[str, ...] = option(
        "accounts that must not be in the cluster's accounting database, with their users", (), pattern=NAME
    )
    qos: tuple[str, ...] = option("qualities of service that must not be in the accounting database", (), pattern=NAME)
