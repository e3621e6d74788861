# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as frozen dataclasses. Each key is declared once, in the model of its subsystem.

A site without a network, a file system or a Kubernetes cluster leaves out that part, and its layers do nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..fabric.model import Fabric
from ..health.model import Health
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..projects.accounts import project_accounts
from ..projects.model import Projects
from ..proof.model import Proof
from ..slurm.model import Slurm
from ..storage.kinds import KINDS
from ..telemetry.model import Telemetry
from .health_view import reboots
from .openmetrics import openmetrics
from .proof_partition import proof_partition

_PARTS: Mapping[str, tuple[type, str]] = {
    "nodes": (Nodes, ""),
    "slurm": (Slurm, ""),
    "fabric": (Fabric, "switches, and classes and MTU of NICs,"),
    **{name: (kind.model, kind.title) for name, kind in KINDS.items()},
    "kube": (Kube, "Kubernetes and the gate"),
    "proof": (Proof, "proofs of nodes and fabric"),
    "telemetry": (Telemetry, "metrics"),
    "health": (Health, "hardware faults of nodes"),
    "projects": (Projects, "projects"),
}
DOMAINS: Mapping[str, type] = {name: model for name, (model, _title) in _PARTS.items()}
"""The class of each variable `drawbridge_<domain>`."""
OPTIONAL: Mapping[str, str] = {name: title for name, (_model, title) in _PARTS.items() if title}
"""Parts that a site may lack, and what Drawbridge then leaves alone."""
FILESYSTEMS = "filesystems"
"""The parameter of rules, views and expansions that is not one domain: those of all kinds of file systems that the site
has, by kind."""
ENTRIES: Mapping[str, str] = {"projects": "project_"}
"""Domains whose list goes on in variables of one entry each, by the beginning of their names."""
EXPANSIONS: tuple[Callable[..., Any], ...] = (project_accounts, proof_partition, openmetrics, reboots)
"""What entries of one domain stand for in others: pure functions, in their order, whose parameters name domains.

The first is the one that the function returns anew, with what the others add. It may raise IntentError. A domain that
the site may lack has a type with None.
"""


@dataclass(frozen=True)
class Intent:
    """The whole site."""

    nodes: Nodes
    slurm: Slurm
    fabric: Fabric | None
    filesystems: Mapping[str, Any]
    kube: Kube | None
    proof: Proof | None
    telemetry: Telemetry | None
    health: Health | None
    projects: Projects | None
