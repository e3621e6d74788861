# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A shared file system as the other layers see it, and what a kind of them brings to a site; the same for all kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.artefact import Artefact
from ..core.faults import Fault


@dataclass(frozen=True)
class SharedFilesystem:
    """A file system that all nodes mount at the same place."""

    mount: str
    kind: str
    """The variable `drawbridge_<kind>` declares it, the role `<kind>_client` mounts it."""
    source: str
    """The device, or the server with its export."""
    proof: str
    """The command whose output shows that it is mounted with its kind; it reads this host only."""
    unit: str
    """The systemd unit that mounts it after a boot; slurmd and kubelet start after this unit."""


@dataclass(frozen=True)
class Servers:
    """Hosts that a node must reach, for preflight."""

    names: Callable[[Any], Sequence[str]]
    port: int
    peers: bool = False
    """Nodes run the same daemon. Without it, the servers listen before the first run."""


@dataclass(frozen=True)
class Group:
    """A group of the inventory whose hosts the intent names."""

    key: str
    """Below `drawbridge_<kind>`."""
    names: Callable[[Any], Sequence[str]]
    joins: bool = False
    """New nodes can't join without these hosts."""


@dataclass(frozen=True)
class KernelLayer:
    """A kernel module that is built for one kernel, for preflight."""

    product: str
    folder: str
    """It exists where the product is installed."""
    module: str
    repair: str


@dataclass(frozen=True)
class Right:
    """Verbs on a resource of Kubernetes that a run needs, on named objects or on all (None)."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    names: tuple[str, ...] | None = None
    namespace: str = ""


@dataclass(frozen=True)
class Driver:
    """The driver of a kind of file systems in Kubernetes, which makes volumes of claims."""

    namespace: str
    classes: tuple[str, ...]
    """Names of its storage classes."""
    rights: tuple[Right, ...]
    """What a run needs to install it."""


@dataclass(frozen=True)
class Kind:
    """What controllers read of a kind of file systems. Callables get the object of its variable in the intent."""

    title: str
    """What Drawbridge leaves alone on a site without it."""
    model: type
    """The class of its variable."""
    rules: Sequence[Callable[..., Iterable[Fault]]]
    views: Sequence[Callable[..., Any]]
    shared: Callable[[Any], Sequence[SharedFilesystem]]
    servers: Servers
    artefacts: Sequence[Callable[..., Artefact]]
    """What its modules place, by their names, for a plan."""
    reads: Sequence[str] = ()
    """Its modules that write nothing."""
    groups: Mapping[str, Group] = field(default_factory=dict)
    layer: KernelLayer | None = None
    filesets: bool = False
    """Whether the directory of a project is a fileset, with quotas and a pool of its own."""
    driver: Callable[[Any], Driver | None] | None = None
    """Its driver in Kubernetes, if the site wants one. The key C(csi) declares it, and the role C(KIND_csi) runs it."""
    proposed: Callable[[Sequence[tuple[str, str, str]], Mapping[str, Sequence[str]]], Sequence[str]] | None = None
    """Lines of a proposed intent, from sources, places and types of all mounts, and from the inventory's groups."""
