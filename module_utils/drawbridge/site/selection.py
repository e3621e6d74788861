# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks the nodes that a user selects for a playbook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..core import hostlist
from ..core.faults import Fault
from ..core.options import HOSTS, option
from ..core.reader import Reader
from ..fabric.view import switches_of_nodes
from ..storage.kinds import KINDS
from .model import Intent


@dataclass(frozen=True)
class Choice:
    """The option of a playbook that selects its nodes."""

    nodes: str = option("hostlist of nodes", hosts=HOSTS)


def chosen_faults(intent: Intent, name: str, chosen: Any) -> list[Fault]:
    """Refuse the value of the option `name` if it is not a hostlist of different nodes of the intent."""
    reader, [field] = Reader(), fields(Choice)
    reader.value(str, chosen, name, field.metadata)
    if reader.faults:
        return reader.faults
    unknown_nodes = [node for node in hostlist.expand(chosen) if node not in intent.nodes.by_name]
    if not unknown_nodes:
        return []
    reason = f"drawbridge_nodes.ranges has no node {hostlist.compress(unknown_nodes)}"
    repair = f"define it there and add it to the group nodes, or take it out of {name}"
    return [Fault(name, chosen, reason, repair)]


def needed(intent: Intent, chosen: str) -> list[str]:
    """Hosts that onboarding the nodes contacts: Slurm's controller, what they join, their switches, they."""
    names = hostlist.expand(chosen)
    mounted = [(it, group) for name, it in intent.filesystems.items() for group in KINDS[name].groups.values()]
    joined = [host for it, group in mounted if group.joins for host in group.names(it)]
    switches = switches_of_nodes(intent.fabric, intent.nodes, names) if intent.fabric else []
    return [intent.slurm.controller, *joined, *switches, *names]


def idle_faults(
    limit: str, wanted: Sequence[str], groups: Mapping[str, Iterable[str]], left: Iterable[str]
) -> list[Fault]:
    """Refuse a --limit that leaves no host of the groups that a playbook configures. Ansible would end with success."""
    remaining = set(left)
    if not limit or not wanted or any(remaining.intersection(groups.get(name, ())) for name in wanted):
        return []
    reason = f"it leaves no host that this playbook configures, which are those of {', '.join(wanted)}"
    return [Fault("--limit", limit, reason, "run without --limit, or name one of these hosts")]


def narrowed_faults(limit: str, name: str, wanted: Sequence[str], left: Iterable[str]) -> list[Fault]:
    """Refuse a --limit without one of the hosts that the option `name` needs. Ansible would skip its play silently."""
    remaining = set(left)
    if not (missing := [host for host in wanted if host not in remaining]):
        return []
    reason = f"it leaves out {hostlist.compress(missing)}, which the chosen nodes need"
    return [Fault("--limit", limit, reason, f"run without --limit; {name} alone selects the hosts")]
