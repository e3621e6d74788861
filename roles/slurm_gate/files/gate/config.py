# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the roles wrote for the gate, and what Slurm says about the job at hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from . import identity
from .hostlist import expand
from .states import Owner

CONFIG = Path("/etc/drawbridge/gate/config.json")


@dataclass(frozen=True)
class Config:
    """The gate's configuration on this host."""

    api_server: str
    ca_file: str
    partitions: list[str]
    """Partitions whose jobs open their nodes."""
    namespaces: dict[str, str]
    """Kubernetes namespace of every Slurm account."""
    patience_s: float
    """How long a prolog or epilog waits for the API server."""
    empty_s: float
    """How long a node's epilog waits for the node to be empty."""
    pod_grace_s: int
    pod_limits: dict[str, str]
    """What a pod that takes this whole node may ask for; empty on the controller."""

    @classmethod
    def read(cls, file: Path = CONFIG) -> Config:
        """Read the file; keys that this program does not know are left to newer ones."""
        raw = json.loads(file.read_text())
        return cls(**{field.name: raw[field.name] for field in fields(cls)})


class NotGated(Exception):
    """The job is of no concern to the gate."""


class Refused(Exception):
    """The gate says no: the message is the cause. `drain` holds nodes that a person must look at, with the reason."""

    def __init__(self, cause: str, drain: Mapping[str, str] | None = None) -> None:
        super().__init__(cause)
        self.drain = dict(drain or {})


@dataclass(frozen=True)
class Job:
    """A job of a gated partition."""

    owner: Owner
    uid: int
    gid: int
    nodes: tuple[str, ...]

    @property
    def account(self) -> str:
        """Name of the job's ServiceAccount."""
        return identity.name(self.owner.job, self.uid, self.gid)

    @classmethod
    def of(cls, env: Mapping[str, str], config: Config) -> Job:
        """The job that Slurm's environment describes. Raises NotGated, or Refused for one that can't be served.

        Every value used here comes from slurmctld, none can be chosen by the user.
        """
        if env.get("SLURM_JOB_PARTITION") not in config.partitions:
            raise NotGated
        if env.get("SLURM_HET_JOB_ID"):
            raise Refused("heterogeneous jobs can't open nodes: each part has a job id of its own; submit one job")
        account = env.get("SLURM_JOB_ACCOUNT", "")
        if account not in config.namespaces:
            known = ", ".join(sorted(config.namespaces))
            raise Refused(f"Slurm account {account!r} has no Kubernetes namespace; submit with one of: {known}")
        owner = Owner(config.namespaces[account], int(env["SLURM_JOB_ID"]))
        nodes = tuple(expand(env["SLURM_JOB_NODELIST"]))
        return cls(owner, int(env["SLURM_JOB_UID"]), int(env["SLURM_JOB_GID"]), nodes)
