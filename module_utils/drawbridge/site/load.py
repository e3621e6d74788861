# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads the six variables of an inventory into one intent, or raises one error with all faults."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..core import hostlist
from ..core.faults import Fault, IntentError
from ..core.options import NONE, Reader
from ..fabric import cabling_rules as cables
from ..fabric import channel_rules as channels
from ..fabric import links
from ..fabric import rules as fabric
from ..fabric.model import Fabric
from ..kube.member import rules as kube_node
from ..kube.model import Kube
from ..kube.releases import rules as kube_devices
from ..nodes import numa_rules as numa
from ..nodes import rules as nodes
from ..nodes.model import Nodes
from ..slurm import partition_rules as slurm_partitions
from ..slurm import rules as slurm
from ..slurm import scripts_rules as slurm_scripts
from ..slurm.accounting import rules as accounting
from ..slurm.accounting import storage_rules as slurm_storage
from ..slurm.config import layout_rules as slurm_layout
from ..slurm.config import settings_rules as slurm_settings
from ..slurm.config import values_rules as slurm_values
from ..slurm.model import Slurm
from ..storage.gpfs import rules as storage
from ..storage.gpfs.config import rules as storage_config
from ..storage.gpfs.model import Gpfs
from ..storage.nfs import rules as storage_nfs
from ..storage.nfs.model import Nfs
from . import filesystem_rules as filesystems
from . import kube_rules as kube
from . import nodes_rules as placing
from . import system_rules as systems
from .model import Intent

DOMAINS = {"fabric": Fabric, "nodes": Nodes, "slurm": Slurm, "gpfs": Gpfs, "nfs": Nfs, "kube": Kube}
"""The class of each variable `drawbridge_<domain>`."""
OPTIONAL = {"fabric": "switches and NICs", "gpfs": "Storage Scale", "nfs": "NFS", "kube": "Kubernetes and the gate"}
"""Parts that a site may lack, and what Drawbridge then leaves alone."""

RULES = tuple(
    rule
    for part in (
        *(fabric, channels, nodes, placing, cables, links, numa),
        *(slurm, slurm_partitions, slurm_scripts, slurm_settings, slurm_values, slurm_layout),
        *(accounting, slurm_storage),
        *(systems, storage, storage_config, storage_nfs, filesystems, kube, kube_devices, kube_node),
    )
    for rule in part.RULES
)
"""Rules between keys, pure functions of the intent that yield faults, in the order of the report."""


KEPT: dict[tuple[Any, str], Any] = {}
"""Domains and views of this process, by what makes them and by the text of all that they are made of.

Many views of a host read the same domains, and several tasks of a host read the same view. Texts are compared, because
equal values may differ in type: 1 and true.
"""
KEPT_MOST = 64
"""Enough for the views of one host. A process that goes on to other hosts needs no more at a time."""


def load(variables: Mapping[str, Any]) -> Intent:
    """Read drawbridge_fabric, _nodes, _slurm, _gpfs, _nfs and _kube. Raises IntentError with all faults."""
    reader = Reader()
    parts = {}
    for domain, cls in DOMAINS.items():
        key = f"drawbridge_{domain}"
        absent = domain in OPTIONAL and key not in variables
        parts[domain] = None if absent else reader.record(cls, variables.get(key), key)
    if reader.faults:
        raise IntentError(reader.faults)
    intent = Intent(**parts)
    if faults := [fault for rule in RULES for fault in _compared(rule, intent)]:
        raise IntentError(faults)
    return intent


def _compared(rule: Callable[..., Iterable[Fault]], intent: Intent) -> Iterable[Fault]:
    """A rule's parameters name the parts of the intent that it compares. If one is missing, it has nothing to compare.

    A parameter that may be None says so by its default.
    """
    parameters = inspect.signature(rule).parameters
    parts = {part: getattr(intent, part) for part in parameters}
    needed = [value for part, value in parts.items() if parameters[part].default is inspect.Parameter.empty]
    return () if None in needed else rule(**parts)


def part(domain: str, raw: Any, optional: bool = False) -> Any:
    """One domain, for a view that needs no others. Raises IntentError for its shape; only load() checks rules.

    Ansible evaluates views for each host and task, so the cost must not grow with the number of hosts.
    """
    if raw is None and optional:
        return None
    return _kept(DOMAINS[domain], raw, lambda: _read(domain, raw))


def _read(domain: str, raw: Any) -> Any:
    reader = Reader(expand=False)
    value = reader.record(DOMAINS[domain], raw, f"drawbridge_{domain}")
    if reader.faults:
        raise IntentError(reader.faults)
    return value


def _kept(maker: Any, made_of: Any, make: Callable[[], Any]) -> Any:
    """The value that is kept, or a new one."""
    key = maker, repr(made_of)
    if key not in KEPT:
        if len(KEPT) == KEPT_MOST:
            del KEPT[next(iter(KEPT))]
        KEPT[key] = make()
    return KEPT[key]


def inventory_faults(intent: Intent, groups: Mapping[str, Iterable[str]], part: bool = False) -> list[Fault]:
    """Differences between hosts of the intent and of the inventory's groups, which map names to host names.

    `part`: the inventory may have any part of the site, such as a slice of a job.
    """
    switches = intent.fabric.switches if intent.fabric else ()
    expected = {
        "nodes": ("drawbridge_nodes.ranges", list(intent.nodes.by_name)),
        "switches": ("drawbridge_fabric.switches", [it for kind in switches for it in hostlist.expand(kind.names)]),
        "controllers": ("drawbridge_slurm.controller", [intent.slurm.controller]),
        "storage_admins": ("drawbridge_gpfs.admin", hostlist.expand(intent.gpfs.admin) if intent.gpfs else []),
        "storage_owners": ("drawbridge_gpfs.owner.admin", _owner_admins(intent)),
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
            repair = f"define it in {key}, or take it out of the group {group}"
            faults.append(Fault(f"group {group}", undefined, f"{key} does not have it", repair))
    return faults


def _owner_admins(intent: Intent) -> list[str]:
    owner = intent.gpfs.owner if intent.gpfs else None
    return [owner.admin] if owner and owner.admin else []


@functools.cache
def of_variables(view: Callable[..., Any]) -> Callable[..., Any]:
    """The same view for raw inventory variables. Raises IntentError for a variable of the wrong shape.

    A part of the intent that the site lacks is None, which the type of the view's parameter must have.
    """
    signature = inspect.signature(view)

    @functools.wraps(view)
    def derive(*given: Any, **named: Any) -> Any:
        raw = signature.bind(*given, **named).arguments

        def made() -> Any:
            parts = {name: value for name, value in raw.items() if name in DOMAINS}
            read = {
                name: part(name, value, value is None and _may_be_none(view, name)) for name, value in parts.items()
            }
            return view(**{**raw, **read})

        return _kept(view, raw, made)

    return derive


@functools.cache
def _may_be_none(view: Callable[..., Any], name: str) -> bool:
    return NONE in typing.get_args(typing.get_type_hints(view).get(name))
