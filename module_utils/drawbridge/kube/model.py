# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An existing Kubernetes control plane, and what the nodes' kubelets do."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.options import NAME, PATH, option
from ..nodes.model import TOPOLOGY_POLICIES
from .member.model import Package, Registry
from .releases.catalogue import PAUSE
from .releases.model import IMAGE, GpuOperator, Rdma

ACCOUNT = r"[a-z0-9-]+/[a-z0-9.-]+"


@dataclass(frozen=True)
class Controllers:
    """Accounts (namespace/name) of controllers that make pods of jobs' workloads; empty: jobs have none of the kind."""

    jobset: str = option(
        "of JobSet, for JobSets; as it ships: jobset-system/jobset-controller-manager", "", pattern=rf"({ACCOUNT})?"
    )
    trainer: str = option(
        "of Kubeflow Trainer, for TrainJobs; as it ships: kubeflow-system/kubeflow-trainer-controller-manager",
        "",
        pattern=rf"({ACCOUNT})?",
    )
    training_operator: str = option(
        "of the training-operator, for PyTorchJobs; as it ships: kubeflow/training-operator",
        "",
        pattern=rf"({ACCOUNT})?",
    )


@dataclass(frozen=True)
class Kube:
    """drawbridge_kube: the Kubernetes control plane that is already there, and what the nodes' kubelets do."""

    api_server: str = option("URL of the API server", pattern=r"https://[^/]+(:[0-9]+)?")
    ca_file: str = option("path on the nodes of the API server's CA certificate", pattern=PATH)
    infra: str = option("hostlist of nodes that run everything that is not a job, never gated", hosts=True)
    topology_policy: str = option(
        "kubelet's topologyManagerPolicy, where a node class has none of its own",
        "best-effort",
        choices=TOPOLOGY_POLICIES,
    )
    infra_namespaces: tuple[str, ...] = option(
        "namespaces whose pods may run on gated nodes at any time: CNI, GPU and storage operators",
        ("kube-system",),
        pattern=NAME,
    )
    join: str = option(
        "who makes nodes members of the cluster: drawbridge, or site (then nodes are only looked at)",
        "drawbridge",
        choices=("drawbridge", "site"),
    )
    packages: tuple[Package, ...] = option("packages of the kubelet and of containerd on the nodes, pinned", ())
    sources: str = option("apt's sources of these packages, as a deb822 file (empty: those that nodes have)", "")
    sandbox_image: str = option(
        "image that is a part of every pod, beside its containers (pause), with its tag",
        f"{PAUSE.name}:{PAUSE.tag}",
        pattern=IMAGE,
    )
    registries: tuple[Registry, ...] = option("registries with mirrors, or with a CA of their own", ())
    schedulers: tuple[str, ...] = option(
        "Kubernetes users that may bind pods to nodes", ("system:kube-scheduler",), pattern=r"[A-Za-z0-9:._@-]+"
    )
    controllers: Controllers = option("what makes pods of jobs' workloads, beside Kubernetes itself", Controllers())
    tenant_roles: tuple[str, ...] = option(
        "ClusterRoles that may be bound in namespaces of jobs beside view and drawbridge-tenant; none of them may "
        "impersonate, evict, or change pods",
        (),
        pattern=r"[A-Za-z0-9:._-]+",
    )
    audiences: tuple[str, ...] = option(
        "what the API server calls itself in tokens (--api-audiences, or else --service-account-issuer)",
        ("https://kubernetes.default.svc.cluster.local", "https://kubernetes.default.svc"),
        pattern=r"[^\s'\"]+",
    )
    devices: tuple[str, ...] = option(
        "further resources of device plugins that pods of jobs may ask for, beside GPUs and those of rdma",
        (),
        pattern=r"[a-z0-9.-]+/[A-Za-z0-9._-]+",
    )
    gpu_operator: GpuOperator = option("the GPU vendor's operator", GpuOperator())
    rdma: Rdma = option("RDMA devices for pods", Rdma())
