# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An existing Kubernetes control plane, and the settings of the nodes' kubelets."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.options import FILE, HOSTS, LABEL, Shape, content, option
from ..nodes.model import TOPOLOGY_POLICIES
from .releases.catalogue import PAUSE
from .releases.model import IMAGE, GpuOperator, Rdma

ACCOUNT = Shape(
    r"[a-z0-9-]+/[a-z0-9.-]+",
    "a ServiceAccount",
    "its namespace and its name, such as jobset-system/jobset-controller-manager",
)
API_SERVER = Shape(
    r"https://([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?",
    "an https URL without a path",
    "https, a name or an address, and a port, such as https://k8s.example.org:6443",
)
PACKAGE = Shape(
    r"[a-z0-9][a-z0-9+.-]+",
    "the name of a package",
    "small letters, digits, +, dots and dashes, such as kubelet",
)
VERSION = Shape(
    r"[0-9][0-9A-Za-z.+:~-]*",
    "a full version",
    "the one that the package manager prints, without *, such as 1.36.3-1.1",
)
REGISTRY = Shape(
    r"_default|[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?",
    "the name of a registry",
    "its host and port as images have them, such as nvcr.io, or _default for all",
)
URL = Shape(
    r"https?://[^\s\"\\]+",
    "a URL",
    "http or https and a host, such as https://mirror.example.org:5000",
)
KUBE_USER = Shape(
    r"[A-Za-z0-9:._@-]+",
    "the name of a user of Kubernetes",
    "letters, digits and : . _ @ -, such as system:serviceaccount:volcano-system:volcano-scheduler",
)
ROLE = Shape(
    r"[A-Za-z0-9:._-]+",
    "the name of a ClusterRole",
    "letters, digits and : . _ -, such as edit",
)
AUDIENCE = Shape(
    r"[A-Za-z0-9][A-Za-z0-9._~:/?@%=+-]*",
    "an audience of tokens",
    "a name or a URL without blanks, quotes and backslashes, such as https://kubernetes.default.svc",
)
DEVICE = Shape(
    r"[a-z0-9][a-z0-9.-]{0,252}/[A-Za-z0-9._-]{1,63}",
    "the name of a device of pods",
    "a domain, a slash and a name, such as example.org/fpga",
)


@dataclass(frozen=True)
class Package:
    """A package of the operating system, pinned."""

    name: str = option("name of the package", pattern=PACKAGE)
    version: str = option("its full version, as the package manager writes it", pattern=VERSION)


@dataclass(frozen=True)
class Registry:
    """A registry of images, and its mirrors."""

    name: str = option(
        "its name in image names, such as nvcr.io; _default: all registries that are not listed",
        pattern=REGISTRY,
    )
    mirrors: tuple[str, ...] = option("URLs of its mirrors, in order of use", (), pattern=URL)
    ca: str = content("CA certificates of the mirrors, or of the registry, in PEM (empty: the host's own)")
    fallback: bool = option("true: pull from the registry itself when no mirror has an image", False)


@dataclass(frozen=True)
class Controllers:
    """Accounts (namespace/name) of controllers that make pods of jobs' workloads; empty: the kind is not used."""

    jobset: str = option(
        "of JobSet, for JobSets; its default: jobset-system/jobset-controller-manager", "", pattern=ACCOUNT
    )
    trainer: str = option(
        "of Kubeflow Trainer, for TrainJobs; its default: kubeflow-system/kubeflow-trainer-controller-manager",
        "",
        pattern=ACCOUNT,
    )
    training_operator: str = option(
        "of the training-operator, for PyTorchJobs; its default: kubeflow/training-operator",
        "",
        pattern=ACCOUNT,
    )


@dataclass(frozen=True)
class Kube:
    """drawbridge_kube: the existing Kubernetes control plane, and the settings of the nodes' kubelets."""

    api_server: str = option("URL of the API server", pattern=API_SERVER)
    ca_file: str = option("path on the nodes of the API server's CA certificate", pattern=FILE)
    infra: str = option("hostlist of nodes that run all non-job pods; they are never gated", hosts=HOSTS)
    topology_policy: str = option(
        "kubelet's topologyManagerPolicy, unless the node class sets its own",
        "best-effort",
        choices=TOPOLOGY_POLICIES,
    )
    infra_namespaces: tuple[str, ...] = option(
        "namespaces whose pods may run on gated nodes at any time: CNI, GPU and storage operators",
        ("kube-system",),
        pattern=LABEL,
    )
    join: str = option(
        "who joins nodes to the cluster: drawbridge, or site (then Drawbridge only checks the nodes)",
        "drawbridge",
        choices=("drawbridge", "site"),
    )
    packages: tuple[Package, ...] = option("pinned packages of the kubelet and of containerd on the nodes", ())
    sources: str = content("apt's sources of these packages, as a deb822 file (empty: the nodes' own sources)")
    sandbox_image: str = option(
        "the pause image of every pod, with its tag",
        f"{PAUSE.name}:{PAUSE.tag}",
        pattern=IMAGE,
    )
    registries: tuple[Registry, ...] = option("registries that have mirrors or their own CA", ())
    schedulers: tuple[str, ...] = option(
        "Kubernetes users that may bind pods to nodes", ("system:kube-scheduler",), pattern=KUBE_USER
    )
    controllers: Controllers = option(
        "controllers that make pods of jobs' workloads, besides Kubernetes itself", Controllers()
    )
    tenant_roles: tuple[str, ...] = option(
        "ClusterRoles that may be bound in job namespaces, besides view and drawbridge-tenant. None of them may "
        "impersonate, evict, or change pods",
        (),
        pattern=ROLE,
    )
    audiences: tuple[str, ...] = option(
        "audiences of the API server's tokens (--api-audiences, or else --service-account-issuer)",
        ("https://kubernetes.default.svc.cluster.local", "https://kubernetes.default.svc"),
        pattern=AUDIENCE,
    )
    devices: tuple[str, ...] = option(
        "further device plugin resources that pods of jobs may request, besides GPUs and those of rdma",
        (),
        pattern=DEVICE,
    )
    gpu_operator: GpuOperator = option("the GPU vendor's operator", GpuOperator())
    rdma: Rdma = option("RDMA devices for pods", Rdma())
