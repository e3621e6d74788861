# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All views that roles read, by name. A view derives one layer's data from parts of the intent.

Its parameters are domains of the intent, then others. The page of the filter `view` is made from its docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..fabric.model import Fabric
from ..fabric.traffic_view import switch_rounds, switch_traffic, switch_waves
from ..kube.kubelet import view as kubelets
from ..kube.member import view as members
from ..kube.model import Kube
from ..kube.releases import gpu_operator_view, rdma_plugin_view
from ..nodes.model import Nodes
from ..slurm import view as slurms
from ..slurm.maintenance import view as waves
from ..slurm.model import Slurm
from ..storage.kinds import KINDS, shared
from . import capacity_view, gate_view, installer_view, mirror_view, run_view
from .compose import derive, needed, parameters, reads
from .model import DOMAINS, FILESYSTEMS
from .network_view import nic, node_switches, switch
from .preflight_view import preflight
from .status_view import drawbridge_status

Json = dict[str, Any]
View = Callable[..., Any]


def as_it_is(value: Any) -> Any:
    """Of variables that are evaluated already."""
    return value


def node_layers(
    fabric: Fabric | None, nodes: Nodes, slurm: Slurm, filesystems: Mapping[str, Any], kube: Kube | None, name: str
) -> Json:
    """The layers that a node has beside Slurm.

    C(nics), each kind of file systems by its name, and C(kube) in a partition with C(gate: true); C(filesystems), the
    kinds that it has.
    """
    nics = nodes.class_of(name).nics
    return {
        "nics": bool(fabric and nics),
        **{kind: kind in filesystems for kind in KINDS},
        "filesystems": [*filesystems],
        "kube": bool(kube and slurm.gates(name)),
    }


def slurm_controller(nodes: Nodes, slurm: Slurm, cgroups: bool) -> Json:
    """Files of Slurm's controller, and its accounting.

    C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(mariadb), path of the database server's file;
    C(slurmctld) and C(slurmdbd), files for M(drawbridge.drawbridge.slurm_config) and
    M(drawbridge.drawbridge.slurmdbd_config); C(accounting), options of M(drawbridge.drawbridge.slurm_accounting).
    """
    return slurms.controller(slurm, nodes, cgroups)


def slurm_node(nodes: Nodes, slurm: Slurm, name: str, cgroups: bool, mounts: Sequence[str] = ()) -> Json:
    """Files of slurmd on one node, and the hardware with which it registers.

    C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(hardware), options of
    M(drawbridge.drawbridge.slurm_node_hardware); C(slurmd), files as M(drawbridge.drawbridge.slurm_daemon) takes them;
    C(ready), options of M(drawbridge.drawbridge.slurm_node_ready).
    """
    return slurms.node(nodes, slurm, name, mounts, cgroups)


def maintenance(nodes: Nodes, slurm: Slurm, names: Sequence[str], wave: int = 0) -> Json:
    """Waves of nodes for maintenance.

    C(waves), lists of names; C(groups), limits as M(drawbridge.drawbridge.slurm_maintenance) takes them.
    """
    return waves.maintenance(slurm, nodes, names, wave)


def slurm_login(slurm: Slurm) -> Json:
    """Files of sackd on a login host.

    C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(sackd), files as
    M(drawbridge.drawbridge.slurm_daemon) takes them.
    """
    return slurms.login(slurm)


def kube_node(kube: Kube) -> Json:
    """Packages and files that make a node a member of the Kubernetes cluster.

    C(join), whether Drawbridge joins the node. C(packages), C(runtime) and C(member), options of the modules
    C(kube_packages), C(kube_runtime) and C(kube_member). C(kubelet), the kubelet's main configuration.
    """
    return members.kube_node(kube)


def kubelet(nodes: Nodes, kube: Kube, name: str) -> Json:
    """The NUMA configuration of a node's kubelet.

    C(config), a KubeletConfiguration without apiVersion and kind. C(options), those of
    M(drawbridge.drawbridge.kubelet_config): this configuration, the machine, and who joins the node.
    """
    return kubelets.kubelet(nodes, kube, name)


def gpu_operator(nodes: Nodes, kube: Kube) -> list[Json]:
    """Helm releases of the GPU operator. Each has vendor, name, namespace, chart, version and values."""
    return gpu_operator_view.releases(nodes, kube)


def rdma_plugin(nodes: Nodes, kube: Kube) -> list[Json]:
    """Manifests of the RDMA shared device plugin."""
    return rdma_plugin_view.manifests(nodes, kube)


def filesystems(filesystems: Mapping[str, Any]) -> list[Json]:
    """All shared file systems of the nodes, of each kind.

    Each has C(mount), C(kind), C(source), C(proof), the command that shows it mounted, and C(unit), which mounts it
    after a boot.
    """
    return [asdict(each) for each in shared(filesystems)]


def kube_installer(nodes: Nodes, slurm: Slurm, filesystems: Mapping[str, Any], kube: Kube) -> Json:
    """What an administrator applies in Kubernetes.

    C(rights) and C(policies), lists of manifests; C(names) for the role's templates.
    """
    return installer_view.objects(nodes, slurm, shared(filesystems), kube)


def infra_capacity(slurm: Slurm, kube: Kube) -> Json:
    """Infra nodes, gated nodes and namespaces of jobs.

    C(infra) and C(gated), names of nodes; C(job_namespaces).
    """
    return capacity_view.capacity(slurm, kube)


def gate(nodes: Nodes, slurm: Slurm, kube: Kube, name: str) -> Json:
    """The gate's configuration on a host: the site's part of the gate's configuration file."""
    return gate_view.config(slurm, kube, nodes, name)


def gate_objects(slurm: Slurm, kube: Kube) -> Json:
    """What a run writes for the gate in Kubernetes, and what it looks at.

    C(namespaces), then C(accounts), lists of manifests; C(tenant_roles), which job namespaces may bind; C(nodes), all
    gated nodes; C(infra) and C(jobs), namespaces.
    """
    return {
        "namespaces": gate_view.namespaces(slurm),
        "accounts": gate_view.objects(slurm),
        "tenant_roles": gate_view.tenant_roles(kube),
        "nodes": gate_view.gated_nodes(slurm),
        "infra": list(kube.infra_namespaces),
        "jobs": gate_view.job_namespaces(slurm),
    }


def drawbridge_run(nodes: Nodes, slurm: Slurm, filesystems: Mapping[str, Any], kube: Kube, name: str) -> Json:
    """The configuration of drawbridge-run on a host."""
    return run_view.run_site(slurm, shared(filesystems), kube, nodes, name)


def mirror(nodes: Nodes, slurm: Slurm, kube: Kube) -> Json:
    """The contents of the mirror of a site without internet access.

    C(charts), C(images) with their digests, and C(packages).
    """
    return mirror_view.mirror(nodes, kube, slurm)


_ALL = (
    *(switch, nic, node_switches, node_layers, slurm_controller, slurm_node, slurm_login),
    *(view for kind in KINDS.values() for view in kind.views),
    *(kube_node, kubelet, kube_installer, gpu_operator, rdma_plugin, infra_capacity, gate, gate_objects),
    *(drawbridge_run, drawbridge_status, mirror, preflight, filesystems, switch_traffic, switch_waves),
    *(maintenance, switch_rounds),
)
VIEWS: dict[str, View] = {view.__name__: view for view in _ALL}


def viewed(
    name: Any, variables: Mapping[str, Any], given: Mapping[str, Any], evaluated: Callable[[Any], Any] = as_it_is
) -> Any:
    """What a view derives from a host's variables, of which it evaluates those that it reads, and from its arguments.

    An argument with the name of a domain replaces its variable. Without an argument `name` a view of a host is that of
    `inventory_hostname`. Raises ValueError for an unknown name or argument, and for what the intent lacks or has in
    another shape.
    """
    if not isinstance(name, str) or name not in VIEWS:
        raise ValueError(f"{name!r} is not the name of one view; use one of {', '.join(sorted(VIEWS))}")
    view = VIEWS[name]
    parts = {}
    for key in needed(reads(view)):
        if key in given:
            parts[key] = given[key]
        elif f"drawbridge_{key}" in variables:
            parts[key] = evaluated(variables[f"drawbridge_{key}"])
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
