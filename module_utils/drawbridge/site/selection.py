# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks the nodes that a user selects for a playbook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..core import hostlist
from ..core.faults import Fault
from ..core.options import HOSTS, Reader, option
from ..fabric.view import switches_of_nodes
from .model import Intent


@dataclass(frozen=True)
class Choice:
    """The variable `nodes`, usually set with -e."""

    nodes: str = option("hostlist of nodes", hosts=HOSTS)


def chosen_faults(intent: Intent, chosen: Any) -> list[Fault]:
    """Refuse a value that is not a hostlist of different nodes of the intent."""
    reader, [field] = Reader(), fields(Choice)
    reader.value(str, chosen, field.name, field.metadata)
    if reader.faults:
        return reader.faults
    unknown_nodes = [name for name in hostlist.expand(chosen) if name not in intent.nodes.by_name]
    if not unknown_nodes:
        return []
    reason = f"drawbridge_nodes.ranges has no node {hostlist.compress(unknown_nodes)}"
    repair = f"define it there and add it to the group nodes, or take it out of {field.name}"
    return [Fault(field.name, chosen, reason, repair)]


def needed(intent: Intent, chosen: str) -> list[str]:
    """Hosts that onboarding the nodes contacts: Slurm's controller, the GPFS admin host, their switches, they."""
    names = hostlist.expand(chosen)
    admin = hostlist.expand(intent.gpfs.admin) if intent.gpfs else []
    switches = switches_of_nodes(intent.fabric, intent.nodes, names) if intent.fabric else []
    return [intent.slurm.controller, *admin, *switches, *names]


def narrowed_faults(limit: str, wanted: Sequence[str], left: Iterable[str]) -> list[Fault]:
    """Refuse a --limit without one of the wanted hosts, because Ansible would skip its play silently."""
    remaining = set(left)
    if not (missing := [name for name in wanted if name not in remaining]):
        return []
    reason = f"it leaves out {hostlist.compress(missing)}, which the chosen nodes need"
    return [Fault("--limit", limit, reason, "run without --limit; the variable nodes alone selects the hosts")]
