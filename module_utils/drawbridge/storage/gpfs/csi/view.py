# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""IBM's driver of Storage Scale for Kubernetes: its objects from the intent, and what the storage cluster must have."""

from __future__ import annotations

import hashlib
from typing import Any, Protocol

from ....core import hostlist
from ....core.names import DRIVER_NODES, DRIVER_SIDECARS, EFFECT, TAINT
from ....nodes.gpus.vendors import VENDORS
from ....nodes.model import Nodes
from ...model import Driver
from ..model import Gpfs
from .model import DEPENDENT, GROUP, Cluster, Csi, StorageClass
from .objects import DRIVER, KIND, NAMESPACE, RESOURCE, rights
from .releases import GROUP as API_GROUP
from .releases import MANIFEST, PLUGIN_SELECTOR, RELEASES, SELECTORS, VERSION

Json = dict[str, Any]
DIGITS = "0123456789"
TAINTS = (TAINT, *sorted(vendor.resource for vendor in VENDORS.values()))
"""The gate's, and those by which sites keep pods without GPUs off GPU nodes."""
BEFORE_DIGITS = "K8sNodePrefix_"
"""IBM's beginning of the name of a node in a mapping, if it begins with a digit."""


class Kubernetes(Protocol):
    """Nodes of Kubernetes that are never gated."""

    @property
    def infra(self) -> str:
        """A hostlist."""
        raise NotImplementedError


def gpfs_csi(nodes: Nodes, gpfs: Gpfs, kube: Kubernetes | None) -> Json:
    """IBM's driver for Kubernetes.

    C(state), C(objects), C(resource) and C(infra), options of M(drawbridge.drawbridge.gpfs_csi). C(manifest): C(source)
    and C(digest) of IBM's manifest. C(storage), options of M(drawbridge.drawbridge.mm_csi_info).
    """
    if not ((csi := gpfs.csi) and kube):
        return {"state": "absent"}
    clusters = [csi.cluster, *([csi.owner] if csi.owner else [])]
    return {
        "state": "present",
        "manifest": {"source": MANIFEST.format(csi.release), "digest": RELEASES[csi.release].digest},
        "objects": [*(_certificate(it) for it in clusters), *(storage_class(it) for it in csi.classes)],
        "resource": resource(nodes, gpfs, csi, kube),
        "infra": hostlist.expand(kube.infra),
        "storage": storage(nodes, gpfs, csi, kube),
    }


def driver(gpfs: Gpfs) -> Driver | None:
    """What other parts of the site see of the driver."""
    if not gpfs.csi:
        return None
    classes = tuple(it.name for it in gpfs.csi.classes)
    return Driver(NAMESPACE, classes, tuple(rights(classes)))


def storage(nodes: Nodes, gpfs: Gpfs, csi: Csi, kube: Kubernetes) -> Json:
    """What an admin host of the nodes' cluster compares before the driver makes filesets."""
    primary = [csi.primary] if csi.primary else []
    return {
        "cluster_id": csi.cluster.id,
        "filesystems": list(dict.fromkeys([*primary, *(it.filesystem for it in csi.classes)])),
        "nodes": _names(nodes, kube),
        "daemon_suffix": gpfs.daemon_suffix,
        "admin_suffix": gpfs.admin_suffix,
    }


def resource(nodes: Nodes, gpfs: Gpfs, csi: Csi, kube: Kubernetes) -> Json:
    """The resource that the operator reads. A Secret has a slot more at its end, which a run chooses."""
    release = RELEASES[csi.release]
    primary = {"primaryFs": csi.primary, **({"remoteCluster": csi.owner.id} if csi.owner else {})}
    own = {**_reached(csi.cluster, "cluster"), **({"primary": primary} if release.primary else {})}
    sidecars = [{"key": DRIVER_SIDECARS, "value": "true"}]
    mapped = [
        {
            "k8sNode": f"{BEFORE_DIGITS if name[0] in DIGITS else ''}{name}",
            "spectrumscaleNode": name + gpfs.admin_suffix,
        }
        for name in (_names(nodes, kube) if gpfs.admin_suffix else ())
    ]
    spec = {
        "clusters": [own, *([_reached(csi.owner, "owner")] if csi.owner else [])],
        **({"localScaleCluster": csi.cluster.id} if release.local_cluster else {}),
        **dict.fromkeys(SELECTORS, sidecars),
        PLUGIN_SELECTOR: [{"key": DRIVER_NODES, "value": "true"}],
        "tolerations": [{"key": key, "operator": "Exists", "effect": EFFECT} for key in TAINTS],
        **({"nodeMapping": mapped} if mapped else {}),
    }
    about = {"name": RESOURCE, "namespace": NAMESPACE}
    return {"apiVersion": f"{API_GROUP}/{VERSION}", "kind": KIND, "metadata": about, "spec": spec}


def storage_class(wanted: StorageClass) -> Json:
    """A storage class. A volume's files stay when its claim is deleted: a person decides about them."""
    kinds = {
        DEPENDENT: {"filesetType": "dependent", "parentFileset": wanted.parent},
        GROUP: {"version": "2"},
    }
    inodes = {"inodeLimit": str(wanted.inode_limit)} if wanted.inode_limit else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": wanted.name},
        "provisioner": DRIVER,
        "parameters": {
            "volBackendFs": wanted.filesystem,
            "uid": str(wanted.uid),
            "gid": str(wanted.gid),
            "permissions": wanted.permissions,
            **kinds.get(wanted.kind, {"filesetType": "independent"}),
            **inodes,
        },
        "reclaimPolicy": "Retain",
        "volumeBindingMode": "Immediate",
        "allowVolumeExpansion": True,
    }


def _names(nodes: Nodes, kube: Kubernetes) -> list[str]:
    """All nodes that may run the driver."""
    return list(dict.fromkeys([*nodes.by_name, *hostlist.expand(kube.infra)]))


def _reached(cluster: Cluster, part: str) -> Json:
    return {
        "id": cluster.id,
        "restApi": [{"guiHost": it.host, "guiPort": it.port} for it in cluster.gui],
        "secrets": f"drawbridge-{part}",
        "secureSslMode": True,
        "cacert": _certificate(cluster)["metadata"]["name"],
    }


def _certificate(cluster: Cluster) -> Json:
    """The CA's certificate. Its name changes with it, because the driver reads it once."""
    digest = hashlib.sha256(cluster.ca.encode()).hexdigest()[:12]
    about = {"name": f"drawbridge-ca-{cluster.id}-{digest}", "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": {"ca.crt": cluster.ca}}
