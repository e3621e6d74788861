# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Supported releases: charts and their images, with the source of each entry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Image:
    """A container image. `switch` is the chart's value that enables it; an image without one always runs."""

    name: str
    tag: str
    digest: str = ""
    """The vendor's published digest of the multi-architecture index; empty if none is published."""
    switch: str = ""


@dataclass(frozen=True)
class Objects:
    """Objects of one kind that a chart makes with Drawbridge's values: their names, or None for any names."""

    group: str
    resource: str
    names: tuple[str, ...] | None = None
    namespaced: bool = True
    optional: bool = False
    """A value of the site can leave them out, so that helm deletes them."""


@dataclass(frozen=True)
class Chart:
    """A vendor's chart, at the one supported release."""

    name: str
    version: str
    source: str
    """Chart repository, or folder of an OCI registry."""
    digest: str
    """SHA-256 of the packed chart there."""
    tree: str
    """File of values.tree()."""
    images: tuple[Image, ...]
    objects: tuple[Objects, ...] = ()


RBAC, NFD = "rbac.authorization.k8s.io", "gpu-operator-node-feature-discovery"

# Tags: deployments/gpu-operator/values.yaml of tag v26.7.0. Digests: its bundle/manifests/
# gpu-operator-certified.clusterserviceversion.yaml, which has none of the operator's own image, nor of NFD's.
# The chart: branch gh-pages, whose index names the digest of the archive beside it. Unpacked, it is what the tag has in
# deployments/gpu-operator, but for Chart.yaml, which helm writes anew. The archive at helm.ngc.nvidia.com may differ.
NVIDIA = Chart(
    name="gpu-operator",
    version="v26.7.0",
    source="https://nvidia.github.io/gpu-operator",
    digest="bf6b04c16ff7cbc05720ea4b94187217316f9d869d445cfbde4fe0dffabe2557",
    tree="nvidia-gpu-operator",
    images=(
        Image("nvcr.io/nvidia/gpu-operator", "v26.7.0"),
        Image(
            "nvcr.io/nvidia/k8s/container-toolkit",
            "v1.20.0",
            "sha256:f8c647d581f7c8b178efdb7e6c94f5fb6eb12ebc05e2157fa314d327560fcb7a",
            "toolkit.enabled",
        ),
        Image(
            "nvcr.io/nvidia/k8s-device-plugin",
            "v0.20.0",
            "sha256:a61ba9fd8efb82f3a79f877f7580e02c1e8e7593f62473644bc9c79e315c3312",
            "devicePlugin.enabled",
        ),
        Image(
            "nvcr.io/nvidia/k8s/dcgm-exporter",
            "4.6.0-4.8.3-distroless",
            "sha256:613ab03c11d442fd960ff515f547e9921537454a712d08160bc8f677f89f1c35",
            "dcgmExporter.enabled",
        ),
        Image(
            "nvcr.io/nvidia/cloud-native/k8s-mig-manager",
            "v0.15.0",
            "sha256:cab2cf9deafc9602da69d0832a82958a7687f22f4a2f19674099dc9a5c4ea8e2",
            "migManager.enabled",
        ),
        Image("nvcr.io/nvidia/cloud-native/dcgm", "4.6.0-1-ubuntu24.04", switch="dcgm.enabled"),
        Image("nvcr.io/nvidia/cloud-native/nvidia-fs", "2.29.4", switch="gds.enabled"),
        Image("nvcr.io/nvidia/cloud-native/gdrdrv", "v2.6", switch="gdrcopy.enabled"),
        Image("registry.k8s.io/nfd/node-feature-discovery", "v0.19.0", switch="nfd.enabled"),
    ),
    # helm template of the same tag, for a release named gpu-operator
    objects=(
        Objects(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            (
                "clusterpolicies.nvidia.com",
                "computedomaincliques.resource.nvidia.com",
                "computedomains.resource.nvidia.com",
                "gpuclusters.nvidia.com",
                "nodefeaturegroups.nfd.k8s-sigs.io",
                "nodefeaturerules.nfd.k8s-sigs.io",
                "nodefeatures.nfd.k8s-sigs.io",
                "nvidiadrivers.nvidia.com",
            ),
            namespaced=False,
        ),
        Objects(RBAC, "clusterroles", ("gpu-operator",), namespaced=False),
        Objects(RBAC, "clusterrolebindings", ("gpu-operator",), namespaced=False),
        Objects(RBAC, "clusterroles", (NFD, f"{NFD}-gc"), namespaced=False, optional=True),
        Objects(RBAC, "clusterrolebindings", (NFD, f"{NFD}-gc"), namespaced=False, optional=True),
        Objects("nvidia.com", "clusterpolicies", ("cluster-policy",), namespaced=False),
        Objects(RBAC, "roles", ("gpu-operator",)),
        Objects(RBAC, "rolebindings", ("gpu-operator",)),
        Objects(RBAC, "roles", (f"{NFD}-worker",), optional=True),
        Objects(RBAC, "rolebindings", (f"{NFD}-worker",), optional=True),
        Objects("", "serviceaccounts", optional=True),
        Objects("", "configmaps", optional=True),
        Objects("apps", "daemonsets", optional=True),
        Objects("apps", "deployments", optional=True),
    ),
)

# helm/amd-gpu of github.com/ROCm/k8s-device-plugin: tag amd-gpu-helm-0.21.0, commit e7b9edac. Commit ed764684, which
# other files name, has the same folder. The digest: index.yaml of branch helm-chart-release, which names the archive.
AMD = Chart(
    name="amd-gpu",
    version="0.21.0",
    source="https://rocm.github.io/k8s-device-plugin/",
    digest="ab21bae0b038b8fed84dcc20af37180db18cde75cee486f8c9983b8daf85b312",
    tree="amd-gpu",
    images=(Image("docker.io/rocm/k8s-device-plugin", "1.31.0.9"),),
    objects=(Objects("apps", "daemonsets", ("amd-gpu-device-plugin-daemonset",)),),
)
CHARTS = {"nvidia": NVIDIA, "amd": AMD}
"""By the vendor of GPUs."""

# Tag v1.5.3 of github.com/Mellanox/k8s-rdma-shared-dev-plugin, commit 948098b7540b739463dc03e9010c0ff36c2afd78; the
# vendor's own DaemonSet names no tag at all.
RDMA_PLUGIN = Image("ghcr.io/mellanox/k8s-rdma-shared-dev-plugin", "v1.5.3")

# The pause image. containerd's default release of it depends on containerd's release.
PAUSE = Image(
    "registry.k8s.io/pause", "3.10", "sha256:ee6521f290b2168b6e0935a181d4cff9be1ac3f505666ef0e3c98fae8199917a"
)

# RoCE-capable physical functions by vendor and device, from pci.ids.
RDMA_DEVICES = {
    "15b3:1013": "ConnectX-4",
    "15b3:1015": "ConnectX-4 Lx",
    "15b3:1017": "ConnectX-5",
    "15b3:1019": "ConnectX-5 Ex",
    "15b3:101b": "ConnectX-6",
    "15b3:101d": "ConnectX-6 Dx",
    "15b3:101f": "ConnectX-6 Lx",
    "15b3:1021": "ConnectX-7",
    "15b3:1023": "ConnectX-8",
    "15b3:1025": "ConnectX-9",
    "15b3:a2d6": "BlueField-2",
    "15b3:a2dc": "BlueField-3",
    "15b3:a2df": "BlueField-4",
    "14e4:1750": "BCM57508 (Thor)",
    "14e4:1760": "BCM57608 (Thor 2)",
    "8086:1592": "E810-C",
    "8086:12d2": "E830",
    "1dd8:1002": "Pensando DSC",
}
VIRTUAL_FUNCTIONS = ("15b3:1014", "15b3:1016", "15b3:1018", "15b3:101a", "15b3:101c", "15b3:101e")
"""Virtual functions of the same cards; the plugin shares physical ones."""
