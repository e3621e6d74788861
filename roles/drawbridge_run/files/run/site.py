# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that drawbridge-run reads: the site's, which the role writes, and the job's, which the gate writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from ..gate.config import Refused

SITE = Path("/etc/drawbridge/run.json")
NCCL = Path("/etc/nccl.conf")
"""Written by the role fabric_nic. NCCL reads it on the host; pods get it as environment."""
JOBS = Path("/run/drawbridge/jobs")


@dataclass(frozen=True)
class Site:
    """Settings of the site; the same on all hosts."""

    partitions: list[str]
    """Partitions whose jobs may have pods."""
    namespaces: Mapping[str, str]
    """Kubernetes namespace of every Slurm account that has one."""
    mounts: Mapping[str, list[str]]
    """File systems that pods of each namespace may mount, each at its own path."""
    gpu_resource: str
    devices: Mapping[str, str]
    """Other resources of a pod: RDMA devices."""
    kill_wait_s: int
    """Time that Slurm gives a job to end."""

    @classmethod
    def read(cls, file: Path = SITE) -> Site:
        """Read the file; keys of newer versions are ignored. Raises Refused."""
        try:
            raw = json.loads(file.read_text())
            return cls(**{field.name: raw[field.name] for field in fields(cls)})
        except (OSError, ValueError, KeyError) as err:
            raise Refused(f"{file} can't be used ({err}): ask the administrators to run gate.yml") from err


@dataclass(frozen=True)
class Grant:
    """The job's rights: API server, account, and the size of a pod that takes a whole node."""

    api_server: str
    ca_file: str
    namespace: str
    account: str
    toleration: str
    token: Path
    gpus: str
    cpus: str
    memory: str
    groups: tuple[int, ...] = ()
    """The user's other groups. Pods have all of them in this order, or none."""

    @property
    def ids(self) -> tuple[int, int]:
        """uid and gid in the account's name; pods run as these or not at all."""
        found = re.fullmatch(r"slurm-[0-9]+-u([0-9]+)-g([0-9]+)", self.account)
        if not found:
            raise Refused(f"{self.account} is no account of a Slurm job: ask the administrators to run gate.yml")
        return int(found.group(1)), int(found.group(2))

    @classmethod
    def read(cls, home: Path) -> Grant:
        """Read a job's directory. Raises Refused, FileNotFoundError."""
        known = dict(line.split("=", 1) for line in (home / "env").read_text().splitlines())
        keys = {"api_server", "ca_file", "namespace", "toleration"}
        values = {key: known[f"DRAWBRIDGE_{key.upper()}"] for key in keys}
        pod = {key: known[f"DRAWBRIDGE_POD_{key.upper()}"] for key in ("gpus", "cpus", "memory")}
        groups = tuple(map(int, filter(None, known.get("DRAWBRIDGE_GROUPS", "").split(","))))
        return cls(account=known["DRAWBRIDGE_SERVICE_ACCOUNT"], token=home / "token", groups=groups, **values, **pod)


def nccl(file: Path = NCCL) -> dict[str, str]:
    """NCCL's settings on this host. All nodes of a job are of one build and have the same."""
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, _unused, value in pairs}
