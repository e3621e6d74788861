# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads the variables of an inventory into one intent, or raises one error with all faults.

Stages follow each other: the shape of each domain, expansions, rules between keys. A rule is left out only if a domain
that it reads is broken, or if it looks up a name that no key defines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..core.faults import Fault, IntentError
from ..fabric import cabling_rules as cables
from ..fabric import channel_rules as channels
from ..fabric import links
from ..fabric import rules as fabric
from ..kube.member import rules as kube_node
from ..kube.releases import rules as kube_devices
from ..nodes import gpu_rules
from ..nodes import numa_rules as numa
from ..nodes import rules as nodes
from ..projects import rules as projects
from ..projects import storage_rules as project_storage
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
from . import health_rules as health
from . import kube_rules as kube
from . import nodes_rules as placing
from . import openmetrics_rules as openmetrics
from . import proof_rules as proof
from . import system_rules as systems
from . import telemetry_rules as telemetry
from .compose import Composed, arguments, compose, whole
from .entry_places import placed, places
from .inventory_groups import group_faults
from .model import Intent
from .own_names import by_end

Rule = Callable[..., Iterable[Fault]]
RULES: tuple[Rule, ...] = tuple(
    rule
    for rules in (
        *(part.RULES for part in (fabric, channels, nodes, placing, cables, links, gpu_rules, numa)),
        *(part.RULES for part in (slurm, slurm_partitions, slurm_scripts, slurm_settings, slurm_values, slurm_layout)),
        *(part.RULES for part in (slurm_logins, accounting, slurm_storage, systems)),
        *(kind.rules for kind in KINDS.values()),
        *(part.RULES for part in (filesystems, kube, kube_devices, kube_node, proof, telemetry, openmetrics, health)),
        *(part.RULES for part in (projects, project_storage)),
    )
    for rule in rules
)
"""Rules between keys, pure functions of the intent that yield faults, in the order of the report."""


def load(variables: Mapping[str, Any]) -> Intent:
    """Compose the intent from variables `drawbridge_<domain>`. Raises IntentError with all faults that can be found."""
    intent, faults = checked(variables)
    if faults or not intent:
        raise IntentError(faults)
    return intent


def checked(
    variables: Mapping[str, Any], groups: Mapping[str, Iterable[str]] | None = None, part: bool = False
) -> tuple[Intent | None, list[Fault]]:
    """The intent, and all its faults. None: a domain is broken.

    With `groups`, the hosts of the inventory's groups, also faults of these; `part`: it may have any part of the site.
    """
    raw = {end: variables[name] for end, name in by_end(variables).items()}
    found = compose(raw)
    faults = [*found.faults, *(fault for rule in RULES for fault in judged(rule, found))]
    if groups is not None:
        faults += group_faults(found, groups, part)
    where = places(found.parts, raw)
    # several rules may look up one name
    once = [*{str(fault): fault for fault in (placed(fault, where) for fault in faults)}.values()]
    return None if found.broken else Intent(**arguments(Intent, found.parts)), once


def judged(rule: Rule, found: Composed) -> list[Fault]:
    """A rule's faults. Its parameters name the parts that it compares: one that is missing or broken leaves nothing.

    A rule that looks up a name which no key defines raises this fault.
    """
    if not whole(rule, found):
        return []
    try:
        return [*rule(**arguments(rule, found.parts))]
    except IntentError as err:
        return [*err.faults]
