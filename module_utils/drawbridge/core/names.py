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
MAX_PODS = f"{PREFIX}/max-pods"
"""Annotation of a gated namespace: how many pods one workload may have."""
FOR_JOBS = f"{PREFIX}/for-jobs"
"""Label of a Secret that pods of jobs may name: "true"."""
MAX_GRACE_S = 120
"""terminationGracePeriodSeconds of a job's pod is this at most. The gate itself gives less once the job is over."""

GATE_NAMESPACE, NODES_NAMESPACE = "drawbridge-gate", "drawbridge-nodes"
GATE_ACCOUNTS = f"system:serviceaccount:{GATE_NAMESPACE}:"
NODE_ACCOUNTS = f"system:serviceaccount:{NODES_NAMESPACE}:"
"""What the usernames of their ServiceAccounts begin with; a node's name follows in the second."""
OPENER, RECONCILER = "opener", "reconciler"
JOB_ROLE, TENANT_ROLE = "drawbridge-job", "drawbridge-tenant"
JOB_ACCOUNT = "slurm-([0-9]+)-u[0-9]+-g[0-9]+"
"""What a job's ServiceAccount is called, as a regular expression: job, uid, gid."""
NOT_FOR_TENANTS = ("pods/eviction", "pods/resize", "pods/ephemeralcontainers", "serviceaccounts/token")
"""Resources that no Role in a gated namespace holds."""
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
