# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the intent: the RDMA shared device plugin's configuration, and the objects that run it.

The plugin ignores unknown keys. The vendor's own manifests have no tolerations and no image tag.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ...core import hostlist
from ...core.names import EFFECT, TAINT
from ...nodes.model import Nodes
from ...nodes.nics import RAILS
from ..model import Kube
from .model import RdmaResource

Json = dict[str, Any]
NAME = "drawbridge-rdma-plugin"
LABELS = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/managed-by": "drawbridge"}
CONFIG_FOLDER = "/k8s-rdma-shared-dev-plugin"
FOLDERS = {
    "device-plugins": "/var/lib/kubelet/device-plugins",
    "plugins-registry": "/var/lib/kubelet/plugins_registry",
    "devices": "/dev",
}


def config(nodes: Nodes, kube: Kube) -> Json:
    """The plugin's config.json: resources, and the devices of each on any node."""
    return {
        "periodicUpdateInterval": kube.rdma.look_again_s,
        "configList": [
            {"resourceName": part.name, "rdmaHcaMax": kube.rdma.share, "selectors": _selectors(nodes, part)}
            for part in resources(nodes, kube)
        ],
    }


def resources(nodes: Nodes, kube: Kube) -> tuple[RdmaResource, ...]:
    """Resources that pods may request; by default one per rail."""
    return kube.rdma.resources or tuple(
        RdmaResource(f"rail{rail}", (rail,))
        for rail in range(max((len(build.rails) for build in nodes.classes.values()), default=0))
    )


def rdma_plugin(nodes: Nodes, kube: Kube) -> list[Json]:
    """Manifests of the RDMA shared device plugin."""
    if not kube.rdma.install:
        return []
    text = json.dumps(config(nodes, kube), indent=2) + "\n"
    metadata = {"name": NAME, "namespace": kube.rdma.namespace, "labels": LABELS}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"config.json": text}},
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": _daemon_set(nodes, kube, text)},
    ]


def taints(nodes: Nodes) -> list[str]:
    """The gate's, and those by which sites keep pods without GPUs off GPU nodes."""
    return [TAINT, *sorted(vendor.resource for vendor in nodes.gpu_vendors)]


def _selectors(nodes: Nodes, part: RdmaResource) -> Json:
    """One name of each selector must match. An empty selector would match no device."""
    nics = [found for build in nodes.classes.values() if (found := build.nics_for(RAILS))]
    devices = sorted({nic.device for nic in nics if nic.device})
    found = {
        "vendors": sorted({device.split(":")[0] for device in devices}),
        "deviceIDs": sorted({device.split(":")[1] for device in devices}),
        "ifNames": [
            *dict.fromkeys(nic.netdevs[rail] for rail in part.rails for nic in nics if rail < len(nic.netdevs))
        ],
    }
    return {key: names for key, names in found.items() if names}


def _daemon_set(nodes: Nodes, kube: Kube, text: str) -> Json:
    # the plugin reads its configuration once, so a changed one must replace the pods
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    volumes: list[Json] = [{"name": name, "hostPath": {"path": path}} for name, path in FOLDERS.items()]
    mounts = [{"name": name, "mountPath": path} for name, path in FOLDERS.items()]
    container = {
        "name": "plugin",
        "image": kube.rdma.image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"privileged": True},
        "volumeMounts": [*mounts, {"name": "config", "mountPath": CONFIG_FOLDER, "readOnly": True}],
    }
    spec = {
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
        "automountServiceAccountToken": False,
        "tolerations": [{"key": key, "operator": "Exists", "effect": EFFECT} for key in taints(nodes)],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _where(kube)}},
        "containers": [container],
        "volumes": [*volumes, {"name": "config", "configMap": {"name": NAME}}],
    }
    template = {"metadata": {"labels": LABELS, "annotations": {"drawbridge.io/config": digest}}, "spec": spec}
    return {"selector": {"matchLabels": {"app.kubernetes.io/name": NAME}}, "template": template}


def _where(kube: Kube) -> Json:
    """Not on infra nodes and the control plane. GPU nodes are not listed, because a new one would restart all pods."""
    infra = hostlist.expand(kube.infra)
    fits = [
        {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": infra},
        {"key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist"},
    ]
    return {"nodeSelectorTerms": [{"matchExpressions": fits}]}
