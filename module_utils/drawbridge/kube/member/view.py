# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as a node needs it to become a member: packages, where images come from, the kubelet's main file."""

from __future__ import annotations

from typing import Any

from ..kubelet.view import BORN_CLOSED
from ..model import Kube
from ..runtime import text as containerd
from .model import Registry

Json = dict[str, Any]


def kube_node(kube: Kube) -> Json:
    """What every node gets; nothing of it depends on which node it is."""
    return {
        "join": kube.join == "drawbridge",
        "packages": {package.name: package.version for package in kube.packages},
        "sources": kube.sources,
        "version": next((package.version for package in kube.packages if package.name == "kubelet"), ""),
        "sandbox_image": kube.sandbox_image,
        "registries": [file for registry in kube.registries for file in _registry(registry)],
        "kubelet": kubelet(kube),
    }


def kubelet(kube: Kube) -> Json:
    """The kubelet's main configuration: who may talk to it, how it is certified, and that it is born closed.

    Who gets which CPUs and memory is role kubelet_numa's.
    """
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
        # containerd takes whatever stands between the marks, so that the first line can be ours
        files.append({"path": ca_file, "content": f"{containerd.HEADER}\n{registry.ca.strip()}\n"})
    return files
