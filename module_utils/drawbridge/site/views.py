# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All views that roles read, by name. A view derives one layer's data from parts of the intent; its subsystem has it.

Its parameters are domains of the intent, then others. The page of the filter `view` is made from its docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..fabric.traffic_view import switch_rounds, switch_traffic, switch_waves
from ..kube.kubelet.view import kubelet
from ..kube.member.view import kube_node
from ..kube.model import Kube
from ..kube.releases.gpu_operator_view import gpu_operator
from ..kube.releases.rdma_plugin_view import rdma_plugin
from ..nodes.model import Nodes
from ..projects.accounts import project_accounts
from ..projects.command_view import project_command
from ..projects.view import project_states, project_storage
from ..slurm.maintenance.view import maintenance
from ..slurm.model import Slurm
from ..slurm.view import slurm_controller, slurm_login
from ..storage.kinds import KINDS
from .compose import APART, apart_from, derive, needed, parameters, present, reads, variables_of
from .filesystems_view import filesystems
from .gate_view import gate, gate_controller, gate_objects, infra_capacity
from .health_view import node_health, node_looks
from .installer_view import kube_installer
from .mirror_view import mirror
from .model import DOMAINS, FILESYSTEMS
from .network_view import nic, node_switches, switch
from .own_names import by_end
from .passport_view import slurm_node
from .preflight_view import preflight
from .proof_view import node_proof
from .run_view import drawbridge_run, drawbridge_status
from .telemetry_switches_view import telemetry_switches
from .telemetry_view import telemetry, telemetry_prometheus, telemetry_reports

Json = dict[str, Any]
View = Callable[..., Any]


@apart_from(project_accounts)
def node_layers(nodes: Nodes, slurm: Slurm, filesystems: Mapping[str, Any], kube: Kube | None, name: str) -> Json:
    """The layers that a node has beside Slurm.

    C(nics), each kind of file systems by its name, and C(kube) in a partition with C(gate: true); C(filesystems), the
    kinds that it has.
    """
    nics = nodes.class_of(name).nics
    return {
        "nics": bool(nics),
        **{kind: kind in filesystems for kind in KINDS},
        "filesystems": [*filesystems],
        "kube": bool(kube and slurm.gates(name)),
    }


_ALL = (
    *(switch, nic, node_switches, node_layers, slurm_controller, slurm_node, slurm_login),
    *(view for kind in KINDS.values() for view in kind.views),
    *(kube_node, kubelet, kube_installer, gpu_operator, rdma_plugin, infra_capacity, gate, gate_controller),
    *(gate_objects, drawbridge_run, drawbridge_status, mirror, preflight, filesystems, switch_traffic, switch_waves),
    *(maintenance, switch_rounds, node_proof, telemetry, telemetry_switches, telemetry_prometheus, telemetry_reports),
    *(node_health, node_looks, project_states, project_storage, project_command),
)
VIEWS: dict[str, View] = {view.__name__: view for view in _ALL}


def viewed(
    name: Any, variables: Mapping[str, Any], given: Mapping[str, Any], evaluated: Callable[[Any], Any] = lambda it: it
) -> Any:
    """What a view derives from a host's variables, of which it evaluates those that it reads, and from its arguments.

    An argument with the name of a domain replaces its variable. Without an argument `name` a view of a host is that of
    `inventory_hostname`. Raises ValueError for an unknown name or argument, and for what the intent lacks or has in
    another shape.
    """
    if not isinstance(name, str) or name not in VIEWS:
        raise ValueError(f"{name!r} is not the name of one view; use one of {', '.join(sorted(VIEWS))}")
    view = VIEWS[name]
    own = by_end(variables)
    have = {*own, *(key for key in DOMAINS if key in given)}
    parts = {
        key: given[key] if key in given else evaluated(variables[own[key]])
        for key in variables_of(needed(reads(view), present(have), APART.get(view, ())), have)
    }
    try:
        return derive(view, parts, _arguments(view, variables, given))
    except ValueError as err:
        raise ValueError(f"view {name}: {err}") from err


def _arguments(view: View, variables: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A view's arguments beside domains. Raises ValueError for one that it doesn't have or that is missing."""
    names = parameters(view)
    known = [*reads(view), *(name for name in names if name not in DOMAINS and name != FILESYSTEMS)]
    if unknown := sorted(given.keys() - {*known}):
        raise ValueError(f"it has no argument {unknown[0]}; it has {', '.join(known)}")
    found = {key: value for key, value in given.items() if key not in DOMAINS}
    if "name" in known and "inventory_hostname" in variables:
        found.setdefault("name", variables["inventory_hostname"])
    required = [key for key in known if key in names and names[key].default is inspect.Parameter.empty]
    if lacking := [key for key in required if key not in found and key not in DOMAINS]:
        raise ValueError(f"it needs the argument {lacking[0]}")
    return found
