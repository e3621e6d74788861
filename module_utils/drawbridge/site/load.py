# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads the variables of an inventory into one intent, or raises one error with all faults.

Stages follow each other: the shape of each domain, expansions, rules between keys. A rule is left out only if a domain
that it reads is broken, or if it looks up a name that no key defines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..core import hostlist
from ..core.faults import Fault, IntentError
from ..fabric import cabling_rules as cables
from ..fabric import channel_rules as channels
from ..fabric import links
from ..fabric import rules as fabric
from ..kube.member import rules as kube_node
from ..kube.releases import rules as kube_devices
from ..nodes import numa_rules as numa
from ..nodes import rules as nodes
from ..slurm import partition_rules as slurm_partitions
from ..slurm import rules as slurm
from ..slurm import scripts_rules as slurm_scripts
from ..slurm.accounting import rules as accounting
from ..slurm.accounting import storage_rules as slurm_storage
from ..slurm.config import layout_rules as slurm_layout
from ..slurm.config import settings_rules as slurm_settings
from ..slurm.config import values_rules as slurm_values
from ..slurm.logins import rules as slurm_logins
from ..storage.kinds import KINDS
from . import filesystem_rules as filesystems
from . import kube_rules as kube
from . import nodes_rules as placing
from . import system_rules as systems
from .compose import Composed, arguments, compose, lacking, reads
from .model import DOMAINS, Intent

Rule = Callable[..., Iterable[Fault]]
RULES: tuple[Rule, ...] = tuple(
    rule
    for rules in (
        *(part.RULES for part in (fabric, channels, nodes, placing, cables, links, numa)),
        *(part.RULES for part in (slurm, slurm_partitions, slurm_scripts, slurm_settings, slurm_values, slurm_layout)),
        *(part.RULES for part in (slurm_logins, accounting, slurm_storage, systems)),
        *(kind.rules for kind in KINDS.values()),
        *(part.RULES for part in (filesystems, kube, kube_devices, kube_node)),
    )
    for rule in rules
)
"""Rules between keys, pure functions of the intent that yield faults, in the order of the report."""


def load(variables: Mapping[str, Any]) -> Intent:
    """Compose the intent from variables `drawbridge_<domain>`. Raises IntentError with all faults that can be found."""
    found = compose({domain: variables[key] for domain in DOMAINS if (key := f"drawbridge_{domain}") in variables})
    faults = [*found.faults, *(fault for rule in RULES for fault in judged(rule, found))]
    if faults:
        # several rules may look up one name
        raise IntentError([*{str(fault): fault for fault in faults}.values()])
    return Intent(**arguments(Intent, found.parts))


def judged(rule: Rule, found: Composed) -> list[Fault]:
    """A rule's faults. Its parameters name the parts that it compares: one that is missing or broken leaves nothing.

    A rule that looks up a name which no key defines raises this fault.
    """
    if found.broken & set(reads(rule)) or lacking(rule, found.parts):
        return []
    try:
        return [*rule(**arguments(rule, found.parts))]
    except IntentError as err:
        return [*err.faults]


def inventory_faults(intent: Intent, groups: Mapping[str, Iterable[str]], part: bool = False) -> list[Fault]:
    """Differences between hosts of the intent and of the inventory's groups, which map names to host names.

    `part`: the inventory may have any part of the site, such as a slice of a job.
    """
    switches = intent.fabric.switches if intent.fabric else ()
    expected = {
        "nodes": ("drawbridge_nodes.ranges", list(intent.nodes.by_name)),
        "switches": ("drawbridge_fabric.switches", [it for kind in switches for it in hostlist.expand(kind.names)]),
        "controllers": ("drawbridge_slurm.controller", [intent.slurm.controller]),
        **_groups(intent.filesystems),
    }
    storage = intent.slurm.accounting
    elsewhere = storage.slurmdbd == "drawbridge" and storage.host not in ("", intent.slurm.controller)
    expected["accounting"] = ("drawbridge_slurm.accounting.host", [storage.host] if elsewhere else [])
    if "infra" in groups and intent.kube:  # Drawbridge need not configure the infra nodes
        expected["infra"] = ("drawbridge_kube.infra", hostlist.expand(intent.kube.infra))
    faults = []
    for group, (key, names) in expected.items():
        hosts = list(groups.get(group, ()))
        present, defined = set(hosts), set(names)
        missing = "" if part else hostlist.compress([name for name in names if name not in present])
        if missing:
            reason = f"the inventory's group {group} has no {missing}"
            faults.append(Fault(key, missing, reason, f"add it to the group {group}, or take it out of {key}"))
        if undefined := hostlist.compress([host for host in hosts if host not in defined]):
            reason, repair = f"{key} does not have it", f"define it in {key}, or take it out of the group {group}"
            if group == "accounting" and not elsewhere:
                reason = (
                    "slurmdbd runs on the controller" if storage.slurmdbd == "drawbridge" else "slurmdbd is the site's"
                )
                repair = f"take it out of the group {group}"
            faults.append(Fault(f"group {group}", undefined, reason, repair))
    return faults


def _groups(filesystems: Mapping[str, Any]) -> dict[str, tuple[str, list[str]]]:
    """Groups whose hosts file systems name; without hosts for one that the site lacks."""
    rows = [(name, group, row) for name, kind in KINDS.items() for group, row in kind.groups.items()]
    return {
        group: (f"drawbridge_{name}.{row.key}", [*row.names(filesystems[name])] if name in filesystems else [])
        for name, group, row in rows
    }
