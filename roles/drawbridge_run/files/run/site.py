# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that drawbridge-run reads: the site's, which the role writes, and the job's, which the gate writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ..gate.config import Refused
from ..gate.gate_names import CLAIMS, DIGESTS_ONLY, HOST_PATHS, IMAGES, READ_ONLY_CLAIMS, STORAGE_CLASSES

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
    unlike_nodes: bool = False
    """Divided GPUs make nodes of equal CPUs differ, so Slurm must say whether those of a job are alike."""
    budgets: Mapping[str, str] = field(default_factory=dict)
    """The kind of period of each QOS whose budget begins anew."""
    claims: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """Claims that pods of each project's namespace may mount, and whether they only read each."""
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Storage classes in which people of each project make claims of their own, which its pods may mount, too."""
    images: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Images that pods of a namespace may have: `allow`, how their names begin, and `digests_only`. Others have any."""

    @classmethod
    def read(cls, file: Path = SITE) -> Site:
        """Read the file; keys of newer versions are ignored. Raises Refused."""
        try:
            raw = json.loads(file.read_text())
            needed = [
                one.name for one in fields(cls) if one.name in raw or one.default is one.default_factory is MISSING
            ]
            return cls(**{name: raw[name] for name in needed})
        except (OSError, ValueError, KeyError) as err:
            raise Refused(f"{file} can't be used ({err}): ask the administrators to run gate.yml") from err

    def with_project(self, namespace: str, annotations: Mapping[str, str]) -> Site:
        """The same, with what the annotations of a project's namespace say of its pods."""

        def listed(key: str) -> list[str]:
            return [it for it in annotations.get(key, "").split(",") if it]

        limits = {"allow": listed(IMAGES), "digests_only": annotations.get(DIGESTS_ONLY) == "true"}
        read_only = listed(READ_ONLY_CLAIMS)
        return replace(
            self,
            mounts={**self.mounts, namespace: listed(HOST_PATHS)},
            claims={**self.claims, namespace: {name: name in read_only for name in listed(CLAIMS)}},
            classes={**self.classes, namespace: listed(STORAGE_CLASSES)},
            images={**self.images, namespace: limits},
        )


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
    resources: Mapping[str, str] = field(default_factory=dict)
    """GPUs and instances by their names in Kubernetes, where instances have names of their own."""

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
        named = dict(it.split("=", 1) for it in filter(None, known.get("DRAWBRIDGE_POD_RESOURCES", "").split(",")))
        account, token = known["DRAWBRIDGE_SERVICE_ACCOUNT"], home / "token"
        return cls(account=account, token=token, groups=groups, resources=named, **values, **pod)


def nccl(file: Path = NCCL) -> dict[str, str]:
    """NCCL's settings on this host. All nodes of a job are of one build and have the same."""
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, _unused, value in pairs}
