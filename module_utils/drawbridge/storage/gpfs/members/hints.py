# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the cluster's admin host can't see of nodes, and sentences about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Local:
    """What a node itself has of a cluster: its id, empty for none."""

    cluster_id: str = ""


@dataclass(frozen=True)
class Hints:
    """What the admin host can't see: what nodes have of a cluster, and which are lost permanently."""

    local: Mapping[str, Local] = field(default_factory=dict)
    dead: frozenset[str] = frozenset()
    stopping: frozenset[str] = frozenset()
    """Nodes on which this check run has predicted that GPFS stops."""
    dead_option: str = "dead"
    """What names dead nodes, for messages."""
    ask_first: bool = False
    """A node joins only if it is among `local`: its software is there."""


def foreign(known: Local) -> str:
    """Why a node of another cluster can't be a client of this one."""
    return (
        f"it has the configuration of another cluster, {known.cluster_id}; delete it from that cluster first, or remove"
        " it from drawbridge_nodes"
    )


def unreached(name: str, answers: bool) -> str:
    """Why the cluster does not know a member's state. `answers`: Ansible has just reached it."""
    if answers:
        return (
            "Ansible reaches it, the admin host's mm commands do not; look there for a changed host key:"
            f" ssh {name} true"
        )
    return "its daemon's state is unknown to the cluster; start the host, or repair its network"
