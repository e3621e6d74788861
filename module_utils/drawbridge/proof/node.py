# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node as the checks see it: the part of the intent that measurements and limits need, as plain data for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class ProofRail:
    """A rail's devices and line rate."""

    netdev: str
    rdma: str
    gbps: int
    """Line rate in Gb/s; 0: the intent does not say."""
    numa: int = 0


@dataclass(frozen=True)
class ProofDirectory:
    """A directory to measure; see `proof.model.Directory`."""

    path: str
    file_system: str
    read_mb_s: int
    write_mb_s: int
    metadata_per_s: int
    shared: bool
    size_mib: int


@dataclass(frozen=True)
class ProofTraining:
    """A training script; see `proof.model.Training`. Without a command there is none."""

    command: str = ""
    seconds: int = 600
    unit: str = ""
    limit: float = 1.0
    at_most: bool = False


@dataclass(frozen=True)
class ProofNode:
    """One node. Nodes of a class differ in `name` alone."""

    name: str
    node_class: str
    rails: tuple[ProofRail, ...] = ()
    mtu_bytes: int = 0
    """MTU of the rails' network devices; 0: the network is the site's."""
    tclass: int = 0
    """Traffic class of RDMA packets in the lossless class: DSCP << 2 | ECT(0)."""
    priority: int = -1
    """The lossless priority; -1: the network is the site's."""
    dcqcn: bool = False
    """Whether receivers answer ECN marks with congestion notifications."""
    gid_index: int = -1
    """GID of each rail; -1: the RoCE v2 GID with an IPv4 address, found on the node."""
    fabric: str = "RoCEv2"
    gpus: int = 0
    gpu_vendor: str = ""
    gpu_product: str = ""
    """Product name that the driver reports; empty: the intent does not say, and limits of GPUs can't be derived."""
    instances: int = 0
    """GPUs and instances that Slurm has, where GPUs are divided: programs can't measure them. 0: all GPUs are whole."""
    sockets: int = 1
    cores: int = 1
    memory_mib: int = 0
    socket_memory_gb_s: int = 0
    tools: Mapping[str, str] = field(default_factory=dict)
    """Paths of the site's tools by name: nccl_tests, mpi, nvbandwidth, stream, gemm, dcgmi; empty ones are absent."""
    directories: tuple[ProofDirectory, ...] = ()
    training: ProofTraining = ProofTraining()
    limits: Mapping[str, str] = field(default_factory=dict)
    """Limits of the site by the name of a measure."""
    seconds: int = 10
    """Duration of one measurement of the fabric."""

    @property
    def divided(self) -> bool:
        """Whether a GPU is."""
        return self.instances > 0

    @property
    def gres(self) -> str:
        """All that Slurm has for jobs. A job with the whole node gives its steps no GPU that srun did not ask for."""
        return f"gpu:{self.instances or self.gpus}" if self.gpus else ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data; from_dict() reads it. Nodes with whole GPUs have the text of earlier releases."""
        return {key: it for key, it in asdict(self).items() if key != "instances" or it}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ProofNode:
        """Read the data of as_dict(); keys of another release are left out. Raises KeyError without rails."""
        nested = {
            "rails": tuple(ProofRail(**it) for it in data["rails"]),
            "directories": tuple(ProofDirectory(**it) for it in data["directories"]),
            "training": ProofTraining(**data["training"]),
        }
        return cls(**{**{it.name: data[it.name] for it in fields(cls) if it.name in data}, **nested})
