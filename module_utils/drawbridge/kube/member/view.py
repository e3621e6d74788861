# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the intent: a member's packages, its image registries, and its kubelet's main configuration."""

from __future__ import annotations

from typing import Any

from ..kubelet.view import BORN_CLOSED
from ..model import Kube, Registry
from ..runtime import text as containerd

Json = dict[str, Any]


def kube_node(kube: Kube) -> Json:
    """Packages and files that make a node a member of the Kubernetes cluster.

    C(join), whether Drawbridge joins the node. C(packages), C(runtime) and C(member), options of the modules
    C(kube_packages), C(kube_runtime) and C(kube_member). C(kubelet), the kubelet's main configuration.
    """
    joins = kube.join == "drawbridge"
    return {
        "join": joins,
        "packages": {
            "packages": {package.name: package.version for package in kube.packages},
            "sources": kube.sources,
        },
        "runtime": {
            "sandbox_image": kube.sandbox_image,
            "registries": [file for registry in kube.registries for file in _registry(registry)],
        },
        "member": {
            "join": joins,
            "version": next((package.version for package in kube.packages if package.name == "kubelet"), ""),
        },
        "kubelet": kubelet(kube),
    }


def kubelet(kube: Kube) -> Json:
    """The kubelet's main configuration: access, certificates, the closed taint. Role kubelet_numa has the NUMA keys."""
    return {
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": kube.ca_file},
        },
        "authorization": {"mode": "Webhook"},
        "serverTLSBootstrap": True,
        "rotateCertificates": True,
        "registerWithTaints": [BORN_CLOSED],
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    }


def _registry(registry: Registry) -> list[Json]:
    folder = f"{containerd.CERTS_D}/{registry.name}"
    ca_file = f"{folder}/ca.crt" if registry.ca else ""
    text = containerd.hosts(registry.name, registry.mirrors, ca_file, registry.fallback)
    files = [{"path": f"{folder}/hosts.toml", "content": text}]
    if ca_file:
        # containerd ignores text outside of the PEM marks, so the header can be the first line
        files.append({"path": ca_file, "content": f"{containerd.HEADER}\n{registry.ca.strip()}\n"})
    return files
