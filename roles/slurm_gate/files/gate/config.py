# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's configuration, which the roles write, and the job that Slurm's environment describes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import identity
from .hostlist import expand, outside
from .states import Owner

CONFIG = Path("/etc/drawbridge/gate/config.json")


class Config(NamedTuple):
    """The gate's configuration on this host."""

    api_server: str
    ca_file: str
    partitions: list[str]
    """Partitions whose jobs open their nodes."""
    partition_nodes: dict[str, str]
    """Nodes of each partition as a hostlist; only on the controller, so that a new node changes no other node."""
    namespaces: dict[str, str]
    """Kubernetes namespace of every Slurm account."""
    infra_namespaces: list[str]
    """Namespaces whose pods may be on a node at any time."""
    patience_s: float
    """How long a prolog or epilog waits for the API server, and a prolog for nodes that are not closed yet."""
    empty_s: float
    """How long a node's epilog waits for the node to be empty."""
    pod_grace_s: int
    stuck_s: float
    """After so many seconds a batch job without a batch step is requeued."""
    tries: int
    """After so many failed starts a job is held."""
    runtime: str
    """Tool that lists containers: ctr or crictl."""
    gpu_daemons: list[str]
    """Programs that may use a GPU at any time."""
    metrics: str
    """File for node_exporter's textfile collector."""
    pod_limits: dict[str, str]
    """Resources of a pod that takes this whole node; empty on the controller."""
    gpu_proof: dict[str, Any]
    """How this node's GPUs and processes on them are found: devices, major, minors_from, minors_below, and processes or
    process_folder. Empty on the controller."""

    @classmethod
    def read(cls, file: Path = CONFIG) -> Config:
        """Read the file; keys of newer versions are ignored."""
        raw = json.loads(file.read_text())
        return cls(**{name: raw[name] for name in cls._fields})

    @property
    def spaces(self) -> list[str]:
        """Namespaces of jobs."""
        return sorted(set(self.namespaces.values()))


class NotGated(Exception):
    """The job's partition is not gated."""


class Refused(Exception):
    """The gate refuses; the message is the cause. `drain` maps nodes to drain reasons."""

    def __init__(self, cause: str, drain: Mapping[str, str] | None = None) -> None:
        super().__init__(cause)
        self.drain = dict(drain or {})


class Job(NamedTuple):
    """One run of a job of a gated partition."""

    owner: Owner
    uid: int
    gid: int
    nodes: tuple[str, ...]
    restart: int = 0
    started: int = 0
    """Slurm's start time of this run; it never decreases during the run."""

    @property
    def account(self) -> str:
        """Name of the job's ServiceAccount."""
        return identity.name(self.owner.job, self.uid, self.gid)

    @classmethod
    def of(cls, env: Mapping[str, str], config: Config, noted: str = "") -> Job:
        """The job that Slurm's environment describes. Raises NotGated, or Refused for a job that can't have pods.

        `noted` is the namespace that it was opened in, if known: its account may have lost it since. All values come
        from slurmctld; users can't choose any.
        """
        if env.get("SLURM_JOB_PARTITION") not in config.partitions:
            raise NotGated
        if env.get("SLURM_HET_JOB_ID"):
            raise Refused("heterogeneous jobs can't open nodes: each part has a job id of its own; submit one job")
        account = env.get("SLURM_JOB_ACCOUNT", "")
        namespace = noted or config.namespaces.get(account)
        if not namespace:
            known = ", ".join(sorted(config.namespaces))
            raise Refused(f"Slurm account {account!r} has no Kubernetes namespace; submit with one of: {known}")
        return cls(
            Owner(namespace, int(env["SLURM_JOB_ID"])),
            int(env["SLURM_JOB_UID"]),
            int(env["SLURM_JOB_GID"]),
            # an epilog that slurmd runs late, after a restart, gets no list of nodes and needs none
            tuple(expand(env.get("SLURM_JOB_NODELIST", ""))),
            int(env.get("SLURM_JOB_RESTART_COUNT") or 0),
            int(env.get("SLURM_JOB_START_TIME") or 0),
        )


def require_whole_nodes(env: Mapping[str, str], job: Job, config: Config) -> None:
    """Check again that the job has whole nodes: slurm.conf may have been edited by hand. Raises Refused."""
    whole = env.get("SLURM_JOB_EXCLUSIVE") or {"NO": "NODE"}.get(env.get("SLURM_JOB_OVERSUBSCRIBE", ""), "NO")
    partition = env["SLURM_JOB_PARTITION"]
    if whole != "NODE":
        raise Refused(
            f"partition {partition} gave the job no whole nodes: its line in slurm.conf needs OverSubscribe=EXCLUSIVE; "
            "run slurm.yml"
        )
    if not job.nodes:
        raise Refused("Slurm named no node of the job: read slurmctld's log")
    if foreign := outside(config.partition_nodes.get(partition, ""), job.nodes):
        raise Refused(
            f"node {foreign[0]} is not in drawbridge_slurm's partition {partition}; run slurm.yml and gate.yml"
        )
