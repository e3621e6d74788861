# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a host must reach, resolve and have before the first run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from ..core import hostlist
from ..fabric.cabling import neighbours, node_ports
from ..fabric.model import Fabric
from ..kube.model import Kube
from ..nodes.model import NO_GPUS, Gpus, NodeClass, Nodes
from ..projects.accounts import project_accounts
from ..proof.model import Proof
from ..slurm.config.settings import first_port, preset
from ..slurm.model import Slurm
from ..slurm.releases import RELEASES
from ..storage.kinds import KINDS
from ..storage.model import Servers
from .compose import apart_from
from .proof_view import proof_node

SLURMDBD, KUBELET, HTTPS = 6819, 10250, 443
MUNGE = "munge"


@apart_from(project_accounts)
def preflight(
    fabric: Fabric | None, nodes: Nodes, slurm: Slurm, filesystems: Mapping[str, Any], kube: Kube | None, name: str
) -> dict[str, Any]:
    """What preflight reads on a host, and compares its answers with.

    C(names), C(ports), C(users) and C(paths) for its probes; GPUs, devices, cables and releases that it must have.
    C(state), the node as the proof's state checks see it; empty for other hosts.
    """
    part = nodes.range_of(name)
    here = nodes.class_at(part) if part else None
    kinds = {kind: KINDS[kind] for kind in filesystems} if here else {}
    servers = [(host, it.servers) for kind, it in kinds.items() for host in it.servers.names(filesystems[kind])]
    ports = list(_ports(nodes, slurm, servers, kube, name))
    api = _api(kube)
    users = list(dict.fromkeys(user for account in slurm.accounts for user in _users(account.users)))
    gpus, rails = (here.gpus, here.rails) if here else (NO_GPUS, ())
    return {
        "name": name,
        "node": here is not None,
        "class": part.node_class if part else "",
        "names": list(dict.fromkeys([name, *(port["host"] for port in ports)])),
        "ports": ports,
        "listens": _listens(slurm, [it.servers for it in kinds.values()], kube, name, here),
        "users": [preset(slurm.settings, "SlurmUser"), MUNGE, *users],
        "accounts": users if here or name == slurm.controller else [],
        "direct": list(dict.fromkeys([slurm.controller, *([api[0]] if api else [])])),
        "paths": _paths(nodes, slurm, servers, name),
        **_gpus(gpus, slurm),
        "netdevs": list(rails),
        "rdma": [device for nics in here.nics for device in nics.rdma_devices] if here else [],
        "mlnx_qos": bool(fabric and rails),
        "cables": _cables(fabric, nodes, name),
        "state": _state(fabric, here, part.node_class, name) if here and part else {},
        "layers": {kind: [it.layer.folder, it.layer.module] for kind, it in kinds.items() if it.layer},
        "slurm_releases": list(RELEASES),
        "kubelet_releases": _kubelet_releases(kube),
    }


def _gpus(gpus: Gpus, slurm: Slurm) -> dict[str, Any]:
    """Packages of a distributor bring the plugin that detects instances. Those of the site must be there already."""
    detects = gpus.divided and slurm.packages == "site"
    return {"gpus": gpus.count, "gpu_vendor": gpus.vendor, "divided": gpus.divided, "detects": detects}


def _state(fabric: Fabric | None, here: NodeClass, node_class: str, name: str) -> dict[str, Any]:
    """The node as state checks see it. They need nothing of the proof's own settings."""
    return replace(proof_node(node_class, here, Proof(), fabric), name=name).as_dict()


def _users(listed: Any) -> list[str]:
    """Users of an account; none if the site keeps them."""
    return [user for user in listed if user != "site"]


def _api(kube: Kube | None) -> tuple[str, int] | None:
    if not kube:
        return None
    url = urlsplit(kube.api_server)
    return str(url.hostname), url.port or HTTPS


def _near(nodes: Nodes, slurm: Slurm, name: str) -> list[str]:
    """The controller, and the next node of the range: the number of paths does not grow with that of nodes."""
    part = nodes.range_of(name) or nodes.ranges[0]
    names = hostlist.expand(part.names)
    following = names[(names.index(name) + 1) % len(names)] if name in names else names[0]
    return [other for other in dict.fromkeys([slurm.controller, following]) if other != name]


def _paths(nodes: Nodes, slurm: Slurm, servers: Sequence[tuple[str, Servers]], name: str) -> list[str]:
    """Hosts to which large packets must pass."""
    far = (host for host, _kind in servers)
    return [other for other in dict.fromkeys([*_near(nodes, slurm, name), *far]) if other != name]


def _ports(
    nodes: Nodes, slurm: Slurm, servers: Sequence[tuple[str, Servers]], kube: Kube | None, name: str
) -> Iterator[dict[str, Any]]:
    """Connections that daemons of this host make. With C(open), a server must listen already."""

    def to(host: str, port: int, must: bool = False) -> dict[str, Any]:
        return {"host": host, "port": port, "open": must}

    slurmd = int(preset(slurm.settings, "SlurmdPort").split("-")[0])
    if name == slurm.controller:
        yield from (to(nodes.addresses.get(node, node), slurmd) for node in nodes.by_name)
    else:
        yield to(slurm.controller, int(first_port(slurm.settings)))
    if nodes.range_of(name):
        near = (other for other in _near(nodes, slurm, name) if nodes.range_of(other))
        yield from (to(nodes.addresses.get(other, other), slurmd) for other in near)
        yield from (to(host, kind.port, must=not kind.peers) for host, kind in servers)
    if api := _api(kube):
        yield to(*api, must=True)


def _listens(slurm: Slurm, kinds: Sequence[Servers], kube: Kube | None, name: str, here: NodeClass | None) -> list[int]:
    if not here:
        return [int(first_port(slurm.settings)), SLURMDBD] if name == slurm.controller else []
    slurmd = int(preset(slurm.settings, "SlurmdPort").split("-")[0])
    return [slurmd, *(it.port for it in kinds if it.peers), *([KUBELET] if kube else [])]


def _cables(fabric: Fabric | None, nodes: Nodes, name: str) -> dict[str, tuple[str, str]]:
    """Switch and port of each port of the rails; nothing of a fabric that is the site's own."""
    if not fabric:
        return {}
    return neighbours(node_ports(fabric.cabling, nodes) if fabric.cabling else (), nodes, name)


def _kubelet_releases(kube: Kube | None) -> list[str]:
    """The pinned release; none if the site installs kubelets."""
    pinned = [package.version for package in kube.packages if package.name == "kubelet"] if kube else []
    return [".".join(version.split(":")[-1].split(".")[:2]) for version in pinned]
