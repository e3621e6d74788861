# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All names of the gate in Kubernetes. The role renders its manifests with them; the gate's program imports them."""

from __future__ import annotations

PREFIX = "drawbridge.io"

TAINT = f"{PREFIX}/slurm"
EFFECT = "NoSchedule"
CLOSED = "closed"
DIRTY = "dirty_"
ADOPTING = f"{PREFIX}/adopting"
"""Taint of a node whose pods are evicted before it is closed for the first time."""

LABEL = "drawbridge.node-restriction.kubernetes.io/slurm-job"
"""Label of a held node. No kubelet may write a label with this prefix."""
JOB_LABEL = f"{PREFIX}/slurm-job"
"""Label of a job's workloads and pods."""

GATED, INFRA = f"{PREFIX}/gated", f"{PREFIX}/infra"
"""Labels of job namespaces and of infrastructure namespaces. Policies exempt the latter."""
HOST_PATHS = f"{PREFIX}/host-paths"
"""Annotation of a gated namespace: paths that its pods may mount, separated by commas."""
MAX_PODS = f"{PREFIX}/max-pods"
"""Annotation of a gated namespace: how many pods one workload may have."""
PROJECT = f"{PREFIX}/project"
"""Label of the namespace, the volumes and the claims of a project: its name."""
CLAIMS, READ_ONLY_CLAIMS = f"{PREFIX}/claims", f"{PREFIX}/read-only-claims"
"""Annotations of a gated namespace: claims that its pods may mount, separated by commas; of these, those that pods only
read."""
IMAGES, DIGESTS_ONLY = f"{PREFIX}/images", f"{PREFIX}/digests-only"
"""Annotations of a gated namespace: how names of its pods' images begin, with commas; "true": each has a digest."""
STORAGE_CLASSES = f"{PREFIX}/storage-classes"
"""Annotation of a gated namespace: storage classes of claims that its people may make, separated by commas."""
CLAIMS_FOLDER = "/claims"
"""Where pods mount claims, each in a folder of its name."""
STATIC_CLASS = "drawbridge-static"
"""Storage class of volumes that are directories of the nodes. No such object exists, so no volume is made for it."""
DRIVER_NODES, DRIVER_SIDECARS = f"{PREFIX}/storage-driver", f"{PREFIX}/storage-sidecars"
"""Labels of nodes that mount all file systems of storage classes: for the driver, and for its sidecars on infra nodes.
"""
PROJECTS = "projects"
"""ConfigMap in GATE_NAMESPACE: what an administrator lets runs give to namespaces of projects."""
OF_USER = f"{PREFIX}/groups"
"""Annotation of a job's RoleBinding ...-run: the user's other groups, as the policies know them."""
FOR_JOBS = f"{PREFIX}/for-jobs"
"""Label of a Secret that pods of jobs may name: "true"."""
MAX_GRACE_S = 120
"""Largest terminationGracePeriodSeconds of a job's pod. The gate itself gives less when the job is over."""

GATE_NAMESPACE, NODES_NAMESPACE = "drawbridge-gate", "drawbridge-nodes"
GATE_ACCOUNTS = f"system:serviceaccount:{GATE_NAMESPACE}:"
NODE_ACCOUNTS = f"system:serviceaccount:{NODES_NAMESPACE}:"
"""Prefixes of their ServiceAccounts' user names; in NODE_ACCOUNTS the node's name follows."""
OPENER, RECONCILER = "opener", "reconciler"
HEALTH = "health"
"""Account in GATE_NAMESPACE of the program that decides about findings. It writes one condition of nodes."""
HEALTH_CONDITION = "DrawbridgeHealth"
"""Type of that condition: True while a finding keeps the node drained in Slurm."""
IDENTITIES = ("drawbridge-opener", "drawbridge-reconciler", "drawbridge-node")
"""The gate's identities: each has a ClusterRole for the cluster, and one for job namespaces with a binding there."""
QUOTA = "drawbridge"
"""ResourceQuota of each job namespace."""
JOB_ROLE, TENANT_ROLE = "drawbridge-job", "drawbridge-tenant"
GROUPS = "groups"
"""Resource of PREFIX that no server has. A job's Role lets `use` the one that is named like the user's other groups."""
GROUPS_SUFFIX = "-groups"
"""Ends the name of an account that never exists: the policies ask for its right to use a job's groups."""
JOB_ACCOUNT = "slurm-([0-9]+)-u[0-9]+-g[0-9]+"
"""Pattern of the name of a job's ServiceAccount: job, uid, gid."""
NOT_FOR_TENANTS = ("pods/eviction", "pods/resize", "pods/ephemeralcontainers", "serviceaccounts/token", GROUPS)
"""Resources that no Role in a gated namespace may grant."""
OPEN_NODES = "open-nodes"
"""ConfigMap in GATE_NAMESPACE: nodes that may register without the taint."""

WORKLOADS = {
    "trainer.kubeflow.org": ("trainjobs", "trainingruntimes"),
    "kubeflow.org": ("pytorchjobs",),
    "jobset.x-k8s.io": ("jobsets",),
    "batch": ("jobs",),
}
"""Workloads by API group. An owner comes before the kinds that it owns, because it would create them again."""
MANAGERS = (
    *("kubernetes.io/job-controller", "jobset.sigs.k8s.io/jobset-controller"),
    *("trainer.kubeflow.org/trainjob-controller", "kubeflow.org/training-operator"),
)
"""What managedBy of these kinds may say: a kind's own controller, which some write themselves."""
RUNTIMES = "trainingruntimes"
"""The only one of these kinds that creates no objects itself."""

PLATFORM, BREAKGLASS = "drawbridge:platform", "drawbridge:breakglass"
"""Groups of administrators."""
INSTALLER, INSTALLER_USER = "drawbridge:installer", "drawbridge"
"""Group with the rights of a run, and the user that the kubeconfig's user acts as."""
INSTALLER_NAMESPACE = "drawbridge-installer"
"""Namespace of the installer's ServiceAccount. It has room for no pod."""
