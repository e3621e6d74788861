# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every name that the gate has in Kubernetes: here and nowhere else.

The role's manifests are rendered with them, and the gate's own program on the hosts reads this very file.
"""

from __future__ import annotations

PREFIX = "drawbridge.io"

TAINT = f"{PREFIX}/slurm"
EFFECT = "NoSchedule"
CLOSED = "closed"
DIRTY = "dirty_"
ADOPTING = f"{PREFIX}/adopting"
"""Taint of a node whose pods are evicted before it is closed for the first time."""

LABEL = "drawbridge.node-restriction.kubernetes.io/slurm-job"
"""On a node while a job holds it. No kubelet may write a label with this prefix."""
JOB_LABEL = f"{PREFIX}/slurm-job"
"""On a job's workloads and pods."""

GATED, INFRA = f"{PREFIX}/gated", f"{PREFIX}/infra"
"""Labels of namespaces: of jobs; of infrastructure, which policies leave alone."""
HOST_PATHS = f"{PREFIX}/host-paths"
"""Annotation of a gated namespace: what its pods may mount, with commas between."""

GATE_NAMESPACE, NODES_NAMESPACE = "drawbridge-gate", "drawbridge-nodes"
GATE_ACCOUNTS = f"system:serviceaccount:{GATE_NAMESPACE}:"
NODE_ACCOUNTS = f"system:serviceaccount:{NODES_NAMESPACE}:"
"""What the usernames of their ServiceAccounts begin with; a node's name follows in the second."""
OPENER, RECONCILER = "opener", "reconciler"
JOB_ROLE = "drawbridge-job"
JOB_ACCOUNT = "slurm-([0-9]+)-u[0-9]+-g[0-9]+"
"""What a job's ServiceAccount is called, as a regular expression: job, uid, gid."""
OPEN_NODES = "open-nodes"
"""ConfigMap in GATE_NAMESPACE: nodes that may be born without the taint."""

WORKLOADS = {
    "trainer.kubeflow.org": ("trainjobs", "trainingruntimes"),
    "kubeflow.org": ("pytorchjobs",),
    "jobset.x-k8s.io": ("jobsets",),
    "batch": ("jobs",),
}
"""What a job makes pods with, by API group. What makes others of them comes first, since it would make them again."""
RUNTIMES = "trainingruntimes"
"""The only one of them that makes nothing by itself."""

PLATFORM, BREAKGLASS = "drawbridge:platform", "drawbridge:breakglass"
"""Groups of people."""
