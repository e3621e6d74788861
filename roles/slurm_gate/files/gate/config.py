# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the roles wrote for the gate, and what Slurm says about the job at hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

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
    """Nodes of each of them as a hostlist; on the controller only, so that a new node changes no other node."""
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
    """A batch job that has no batch step for so long is run again."""
    tries: int
    """So often a job is requeued before it is held."""
    runtime: str
    """Tool that lists containers: ctr or crictl."""
    gpu_daemons: list[str]
    """Programs that may use a GPU at any time."""
    metrics: str
    """File for node_exporter's textfile collector."""
    pod_limits: dict[str, str]
    """What a pod that takes this whole node may ask for; empty on the controller."""

    @classmethod
    def read(cls, file: Path = CONFIG) -> Config:
        """Read the file; keys that this program does not know are left to newer ones."""
        raw = json.loads(file.read_text())
        return cls(**{name: raw[name] for name in cls._fields})

    @property
    def spaces(self) -> list[str]:
        """Namespaces of jobs."""
        return sorted(set(self.namespaces.values()))


class NotGated(Exception):
    """The job is of no concern to the gate."""


class Refused(Exception):
    """The gate says no: the message is the cause. `drain` holds nodes that a person must look at, with the reason."""

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
    """When this run started, as Slurm says; it may only grow during the run."""

    @property
    def account(self) -> str:
        """Name of the job's ServiceAccount."""
        return identity.name(self.owner.job, self.uid, self.gid)

    @classmethod
    def of(cls, env: Mapping[str, str], config: Config, noted: str = "") -> Job:
        """The job that Slurm's environment describes. Raises NotGated, or Refused for one that can't be served.

        `noted` is the namespace that it was opened in, if known: its account may have another one by now, or none.
        Every value used here comes from slurmctld, none can be chosen by the user.
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
            # an epilog that slurmd makes up for after a restart has no list of nodes, and needs none
            tuple(expand(env.get("SLURM_JOB_NODELIST", ""))),
            int(env.get("SLURM_JOB_RESTART_COUNT") or 0),
            int(env.get("SLURM_JOB_START_TIME") or 0),
        )


def require_whole_nodes(env: Mapping[str, str], job: Job, config: Config) -> None:
    """What slurm.conf promises, checked again: a hand-made change there must not lend a shared node. Raises Refused."""
    whole = env.get("SLURM_JOB_EXCLUSIVE") or {"NO": "NODE"}.get(env.get("SLURM_JOB_OVERSUBSCRIBE", ""), "NO")
    partition = env["SLURM_JOB_PARTITION"]
    if whole != "NODE":
        raise Refused(
            f"partition {partition} gave the job no whole nodes: its line in slurm.conf needs OverSubscribe=EXCLUSIVE; "
            "run slurm.yml"
        )
    if not job.nodes:
        raise Refused("Slurm named no node of the job: look into slurmctld's log")
    if strangers := outside(config.partition_nodes.get(partition, ""), job.nodes):
        raise Refused(
            f"node {strangers[0]} is not in drawbridge_slurm's partition {partition}; run slurm.yml and gate.yml"
        )
