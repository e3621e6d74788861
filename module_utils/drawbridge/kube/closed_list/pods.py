# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every field of a pod: judged by a line of the policies, free, or refused. A field that is not here is refused.

Fields are those of the OpenAPI v3 of Kubernetes 1.34 to 1.37.
"""

from __future__ import annotations

from .containers import CLAIMS, KUBELETS, NOT_LINUX, OWN_PROCESSES, OWN_RESTARTS, PROFILES, SECURITY
from .model import EACH, ONE, Level

OWN_NODES = "chooses among the nodes of the job, which the pod selects"
SELECTS = {"labelSelector": (ONE, "LabelSelector")}
VOLUMES = (
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "downwardAPI", "ephemeral", "fc"),
    *("flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "image", "iscsi", "nfs"),
    *("photonPersistentDisk", "portworxVolume", "projected", "quobyte", "rbd", "scaleIO", "secret", "storageos"),
    "vsphereVolume",
)
CLAIM_VOLUME = ("Volume", "persistentVolumeClaim")
"""Level and field of the row that sites without drawbridge_projects do not have: their pods mount no claims."""
NOT_OF_TEMPLATES = (
    *("deletionGracePeriodSeconds", "deletionTimestamp", "generateName", "generation", "managedFields"),
    *("namespace", "resourceVersion", "selfLink", "uid"),
)
MODES = "the pod's user can set it on its own files"

PODS: dict[str, Level] = {
    "PodTemplate": Level(
        judged={"metadata": "", "spec": ""},
        below={"metadata": (ONE, "TemplateMeta"), "spec": (ONE, "Pod")},
    ),
    "TemplateMeta": Level(
        judged={"annotations": "annotations of jobs' pods", "labels": "are labelled"},
        free={"creationTimestamp": "the API server writes null", "name": "controllers name what they make"},
        refused={
            **dict.fromkeys(NOT_OF_TEMPLATES, "not kept"),
            "finalizers": "would keep the node from being closed",
            "ownerReferences": "controllers own what they make",
        },
    ),
    "Pod": Level(
        judged={
            "automountServiceAccountToken": "automountServiceAccountToken: false",
            "containers": "",
            "hostIPC": "hostPID and hostIPC",
            "hostPID": "hostPID and hostIPC",
            "hostUsers": "hostUsers: false",
            "hostname": "hostname and subdomain",
            "imagePullSecrets": "is not for jobs",
            "initContainers": "",
            "nodeName": "nodeName goes past the scheduler",
            "nodeSelector": "does not select its job's nodes",
            "priorityClassName": "priorities are not for jobs",
            "resources": "no other device",
            "securityContext": "",
            "serviceAccountName": "are not of one Slurm job",
            "shareProcessNamespace": "shareProcessNamespace is not for jobs",
            "subdomain": "hostname and subdomain",
            "terminationGracePeriodSeconds": "terminationGracePeriodSeconds is between",
            "tolerations": "tolerates the gate's taint",
            "volumes": "",
        },
        free={
            "activeDeadlineSeconds": OWN_RESTARTS,
            "affinity": OWN_NODES,
            "dnsConfig": OWN_PROCESSES,
            "dnsPolicy": OWN_PROCESSES,
            "enableServiceLinks": OWN_PROCESSES,
            "hostAliases": OWN_PROCESSES,
            "hostNetwork": "RDMA and rendezvous use the node's addresses; low ports need root",
            "overhead": "the API server takes it from the RuntimeClass, and refuses another",
            "preemptionPolicy": "the API server takes it from the priority class",
            "priority": "the API server takes it from the priority class, and refuses another",
            "readinessGates": "the job alone waits for its pods",
            "restartPolicy": OWN_RESTARTS,
            "schedulerName": "only listed schedulers may bind pods",
            "schedulingGates": "a pod that waits is on no node",
            "serviceAccount": "an old name: the API server copies serviceAccountName",
            "topologySpreadConstraints": OWN_NODES,
        },
        refused={
            "ephemeralContainers": "no container is added to a job's pod",
            "evictionResponders": "the gate ends pods without asking others",
            "hostnameOverride": "a pod has the name that its controller gives",
            "os": NOT_LINUX,
            "resourceClaims": CLAIMS,
            "runtimeClassName": "a runtime of its own would go past what guards the node's",
            "schedulingGroup": "Slurm starts all pods of a job together",
            "setHostnameAsFQDN": "a pod has the name that its controller gives",
            "workloadRef": "Slurm starts all pods of a job together",
        },
        below={
            "affinity": (ONE, "Affinity"),
            "containers": (EACH, "Container"),
            "dnsConfig": (ONE, "DNSConfig"),
            "hostAliases": (EACH, "HostAlias"),
            "imagePullSecrets": (EACH, "Name"),
            "initContainers": (EACH, "Container"),
            "readinessGates": (EACH, "ReadinessGate"),
            "resources": (ONE, "Resources"),
            "schedulingGates": (EACH, "Name"),
            "securityContext": (ONE, "PodSecurity"),
            "tolerations": (EACH, "Toleration"),
            "topologySpreadConstraints": (EACH, "Spread"),
            "volumes": (EACH, "Volume"),
        },
    ),
    "PodSecurity": Level(
        judged={
            **SECURITY,
            **dict.fromkeys(("runAsGroup", "runAsUser"), "are not of one Slurm job"),
            "fsGroup": "a pod's volumes have its job's group",
            "supplementalGroups": "supplementalGroups are all that DRAWBRIDGE_GROUPS lists",
            "supplementalGroupsPolicy": "supplementalGroupsPolicy: Strict",
        },
        free={"fsGroupChangePolicy": "no volume of a job's pod changes its owner", "runAsNonRoot": "refuses root only"},
        refused={
            "seLinuxChangePolicy": "the runtime chooses the SELinux domain",
            "seLinuxOptions": "the runtime chooses the SELinux domain",
            "sysctls": "sysctls are the node's, not a job's",
            "windowsOptions": NOT_LINUX,
        },
        below=PROFILES,
    ),
    "Name": Level(free={"name": "a part of the field above"}),
    "Toleration": Level(
        judged=dict.fromkeys(("effect", "key", "operator", "value"), "tolerates the gate's taint"),
        free={"tolerationSeconds": OWN_NODES},
    ),
    "DNSConfig": Level(
        free=dict.fromkeys(("nameservers", "options", "searches"), OWN_PROCESSES), below={"options": (EACH, "Pair")}
    ),
    "HostAlias": Level(free=dict.fromkeys(("hostnames", "ip"), OWN_PROCESSES)),
    "ReadinessGate": Level(free={"conditionType": "the job alone waits for its pods"}),
    "Affinity": Level(
        free={"nodeAffinity": OWN_NODES},
        refused=dict.fromkeys(
            ("podAffinity", "podAntiAffinity"), "the scheduler would apply it to pods of others, too"
        ),
        below={"nodeAffinity": (ONE, "NodeAffinity")},
    ),
    "NodeAffinity": Level(
        free=dict.fromkeys(
            ("preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution"),
            OWN_NODES,
        ),
        below={
            "preferredDuringSchedulingIgnoredDuringExecution": (EACH, "PreferredTerm"),
            "requiredDuringSchedulingIgnoredDuringExecution": (ONE, "NodeSelector"),
        },
    ),
    "PreferredTerm": Level(
        free=dict.fromkeys(("preference", "weight"), OWN_NODES), below={"preference": (ONE, "NodeTerm")}
    ),
    "NodeSelector": Level(free={"nodeSelectorTerms": OWN_NODES}, below={"nodeSelectorTerms": (EACH, "NodeTerm")}),
    "NodeTerm": Level(
        free=dict.fromkeys(("matchExpressions", "matchFields"), OWN_NODES),
        below=dict.fromkeys(("matchExpressions", "matchFields"), (EACH, "Requirement")),
    ),
    "Requirement": Level(free=dict.fromkeys(("key", "operator", "values"), OWN_NODES)),
    "LabelSelector": Level(
        free=dict.fromkeys(("matchExpressions", "matchLabels"), OWN_NODES),
        below={"matchExpressions": (EACH, "Requirement")},
    ),
    "Spread": Level(
        free=dict.fromkeys(
            (
                *("labelSelector", "matchLabelKeys", "maxSkew", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"),
                *("topologyKey", "whenUnsatisfiable"),
            ),
            OWN_NODES,
        ),
        below=SELECTS,
    ),
    "Volume": Level(
        judged=dict.fromkeys(("configMap", "emptyDir", "hostPath", "persistentVolumeClaim"), "volumes are"),
        free={"name": "names the volume"},
        refused=dict.fromkeys(VOLUMES, "volumes are emptyDir, configMap or a shared file system"),
        below={
            "configMap": (ONE, "ConfigMap"),
            "emptyDir": (ONE, "EmptyDir"),
            "hostPath": (ONE, "HostPath"),
            "persistentVolumeClaim": (ONE, "ClaimVolume"),
        },
    ),
    "ClaimVolume": Level(judged={"claimName": "volumes are", "readOnly": "needs readOnly: true"}),
    "ConfigMap": Level(
        free={"defaultMode": MODES, **dict.fromkeys(("items", "name", "optional"), "a job reads ConfigMaps")},
        refused={"defaultUser": KUBELETS},
        below={"items": (EACH, "Item")},
    ),
    "Item": Level(
        free={"mode": MODES, **dict.fromkeys(("key", "path"), "a job reads ConfigMaps")}, refused={"user": KUBELETS}
    ),
    "EmptyDir": Level(
        free=dict.fromkeys(("medium", "sizeLimit"), "counts as the pod's own memory or disk"),
        refused={"mode": KUBELETS},
    ),
    "HostPath": Level(judged={"path": "volumes are", "type": "a hostPath needs type: Directory"}),
}
