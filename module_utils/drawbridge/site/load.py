# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The way in: five variables of an inventory become one intent, or one error that names all that is wrong."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..core import hostlist
from ..core.faults import Fault, IntentError
from ..core.options import Reader
from ..fabric import rules as fabric
from ..fabric.model import Fabric
from ..kube.member import rules as kube_node
from ..kube.model import Kube
from ..kube.releases import rules as kube_devices
from ..nodes import numa_rules as numa
from ..nodes import rules as nodes
from ..nodes.model import Nodes
from ..slurm import rules as slurm
from ..slurm.accounting import rules as accounting
from ..slurm.config import layout_rules as slurm_layout
from ..slurm.config import settings_rules as slurm_settings
from ..slurm.model import Slurm
from ..storage.gpfs import rules as storage
from ..storage.gpfs.model import Gpfs
from . import kube_rules as kube
from . import nodes_rules as cabling
from .model import Intent

DOMAINS = {"fabric": Fabric, "nodes": Nodes, "slurm": Slurm, "gpfs": Gpfs, "kube": Kube}
"""The part of `drawbridge_<domain>` that comes after the underscore, and what it is read into."""

_SLURM = (*slurm.RULES, *slurm_settings.RULES, *slurm_layout.RULES)
_NODES = (*nodes.RULES, *cabling.RULES, *numa.RULES)
_KUBE = (*kube.RULES, *kube_devices.RULES, *kube_node.RULES)
RULES = (
    *fabric.RULES,
    *nodes.RULES,
    *cabling.RULES,
    *numa.RULES,
    *_SLURM,
    *accounting.RULES,
    *storage.RULES,
    *_KUBE,
)
"""Rules between keys, pure functions of the intent that yield faults, in the order of the report."""


def load(variables: Mapping[str, Any]) -> Intent:
    """Read drawbridge_fabric, _nodes, _slurm, _gpfs and _kube. Raises IntentError with every fault found."""
    reader = Reader()
    parts = {}
    for domain, cls in DOMAINS.items():
        key = f"drawbridge_{domain}"
        parts[domain] = reader.record(cls, variables.get(key), key)
    if reader.faults:
        raise IntentError(reader.faults)
    intent = Intent(**parts)
    if faults := [fault for rule in RULES for fault in _compared(rule, intent)]:
        raise IntentError(faults)
    return intent


def _compared(rule: Callable[..., Iterable[Fault]], intent: Intent) -> Iterable[Fault]:
    """A rule's parameters name the parts of the intent that it compares."""
    return rule(**{part: getattr(intent, part) for part in inspect.signature(rule).parameters})


def part(domain: str, raw: Any) -> Any:
    """One domain alone, for a view that needs no more. Raises IntentError for its shape; rules are load()'s.

    Views are made anew for every host and task, so nothing here may take longer where there are more hosts.
    """
    reader = Reader(expand=False)
    value = reader.record(DOMAINS[domain], raw, f"drawbridge_{domain}")
    if reader.faults:
        raise IntentError(reader.faults)
    return value


def inventory_faults(intent: Intent, groups: Mapping[str, Iterable[str]]) -> list[Fault]:
    """Where the intent and the inventory's groups name different hosts. `groups` maps group names to host names."""
    switches = [name for kind in intent.fabric.switches for name in hostlist.expand(kind.names)]
    expected = {
        "nodes": ("drawbridge_nodes.ranges", list(intent.nodes.by_name)),
        "switches": ("drawbridge_fabric.switches", switches),
        "controllers": ("drawbridge_slurm.controller", [intent.slurm.controller]),
        "storage_admins": ("drawbridge_gpfs.admin", [intent.gpfs.admin]),
    }
    if "infra" in groups:  # a site's infra nodes may be somebody else's to configure
        expected["infra"] = ("drawbridge_kube.infra", hostlist.expand(intent.kube.infra))
    faults = []
    for group, (key, names) in expected.items():
        hosts = list(groups.get(group, ()))
        present, described = set(hosts), set(names)
        if strangers := [name for name in names if name not in present]:
            reason = f"the inventory's group {group} has no {hostlist.compress(strangers)}"
            repair = f"add it to the group {group}, or take it out of {key}"
            faults.append(Fault(key, hostlist.compress(strangers), reason, repair))
        if homeless := [host for host in hosts if host not in described]:
            repair = f"describe it in {key}, or take it out of the group {group}"
            faults.append(Fault(f"group {group}", hostlist.compress(homeless), f"{key} does not know it", repair))
    return faults


def of_variables(view: Callable[..., Any]) -> Callable[..., Any]:
    """The same view of raw inventory variables. It raises IntentError when one of them has the wrong shape."""
    signature = inspect.signature(view)

    @functools.wraps(view)
    def derive(*given: Any, **named: Any) -> Any:
        arguments = signature.bind(*given, **named).arguments
        return view(**{name: part(name, value) if name in DOMAINS else value for name, value in arguments.items()})

    return derive
