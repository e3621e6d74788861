# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that a person picks for a playbook, as a hostlist: what is wrong with the choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..core import hostlist
from ..core.faults import Fault
from ..core.options import Reader, option
from ..nodes.view import leaves
from .model import Intent


@dataclass(frozen=True)
class Choice:
    """What is typed after -e."""

    nodes: str = option("hostlist of nodes", hosts=True)


def chosen_faults(intent: Intent, chosen: Any) -> list[Fault]:
    """Refuse what is no hostlist of different nodes of the intent."""
    reader, [field] = Reader(), fields(Choice)
    reader.value(str, chosen, field.name, field.metadata)
    if reader.faults:
        return reader.faults
    strangers = [name for name in hostlist.expand(chosen) if name not in intent.nodes.by_name]
    if not strangers:
        return []
    reason = f"drawbridge_nodes.ranges has no node {hostlist.compress(strangers)}"
    repair = f"describe it there and add it to the group nodes, or take it out of {field.name}"
    return [Fault(field.name, chosen, reason, repair)]


def needed(intent: Intent, chosen: str) -> list[str]:
    """Hosts that bring the chosen nodes into service: the cluster's own, the nodes' leaves, the nodes."""
    names = hostlist.expand(chosen)
    return [intent.slurm.controller, intent.gpfs.admin, *leaves(intent.nodes, names), *names]


def narrowed_faults(limit: str, wanted: Sequence[str], left: Iterable[str]) -> list[Fault]:
    """Refuse a --limit that takes away one of the wanted hosts: its play would be skipped without a word."""
    remaining = set(left)
    if not (missing := [name for name in wanted if name not in remaining]):
        return []
    reason = f"it leaves out {hostlist.compress(missing)}, which the chosen nodes need"
    return [Fault("--limit", limit, reason, "run without --limit: nodes alone says which hosts are contacted")]
