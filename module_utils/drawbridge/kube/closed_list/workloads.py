# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every field of a job's workloads: judged by a line of the policies, free, or refused.

Fields are those of batch/v1 of Kubernetes 1.34 to 1.37, jobset.x-k8s.io/v1alpha2 of 0.12, kubeflow.org/v1 of 1.9 and
trainer.kubeflow.org/v1alpha1 of 2.0 to 2.3.
"""

from __future__ import annotations

from .model import EACH, KEYED, ONE, Level

ENDS = "the workload ends with its job, whatever it does until then"
OWN_PODS = "counts the workload's own pods"
OWN = {"managedBy": "managedBy names"}
JUDGED_LATER = "what Trainer makes of it is judged again, as a JobSet"
SIZE = "pods at most"

WORKLOADS: dict[str, Level] = {
    "Job": Level(
        judged={
            **OWN,
            "completions": SIZE,
            "manualSelector": "finds its pods by its own selector",
            "parallelism": SIZE,
            "template": "",
        },
        free={
            **dict.fromkeys(
                ("activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes"), ENDS
            ),
            **dict.fromkeys(("podFailurePolicy", "podReplacementPolicy", "successPolicy", "suspend"), ENDS),
            **dict.fromkeys(("completionMode", "ttlSecondsAfterFinished"), ENDS),
            "selector": "the API server makes it, unless manualSelector is set",
        },
        refused={"scheduling": "Slurm starts all pods of a job together"},
        below={
            "podFailurePolicy": (ONE, "FailurePolicy"),
            "selector": (ONE, "LabelSelector"),
            "successPolicy": (ONE, "SuccessPolicy"),
            "template": (ONE, "PodTemplate"),
        },
    ),
    "FailurePolicy": Level(free={"rules": ENDS}, below={"rules": (EACH, "FailureRule")}),
    "FailureRule": Level(
        free=dict.fromkeys(("action", "onExitCodes", "onPodConditions"), ENDS),
        below={"onExitCodes": (ONE, "FailureCodes"), "onPodConditions": (EACH, "FailureCondition")},
    ),
    "FailureCodes": Level(free=dict.fromkeys(("containerName", "operator", "values"), ENDS)),
    "FailureCondition": Level(free=dict.fromkeys(("status", "type"), ENDS)),
    "SuccessPolicy": Level(free={"rules": ENDS}, below={"rules": (EACH, "SuccessRule")}),
    "SuccessRule": Level(free=dict.fromkeys(("succeededCount", "succeededIndexes"), ENDS)),
    "JobSet": Level(
        judged={**OWN, "network": "", "replicatedJobs": ""},
        free={
            **dict.fromkeys(
                ("failurePolicy", "startupPolicy", "successPolicy", "suspend", "ttlSecondsAfterFinished"), ENDS
            ),
            "coordinator": "is an annotation with the name of one of its pods",
        },
        refused={"volumeClaimPolicies": "jobs have no claims"},
        below={
            "coordinator": (ONE, "Coordinator"),
            "failurePolicy": (ONE, "SetFailurePolicy"),
            "network": (ONE, "SetNetwork"),
            "replicatedJobs": (EACH, "ReplicatedJob"),
            "startupPolicy": (ONE, "SetStartup"),
            "successPolicy": (ONE, "SetSuccess"),
        },
    ),
    "Coordinator": Level(free=dict.fromkeys(("jobIndex", "podIndex", "replicatedJob"), OWN_PODS)),
    "SetFailurePolicy": Level(
        free=dict.fromkeys(("maxRestarts", "restartStrategy", "rules"), ENDS), below={"rules": (EACH, "SetFailureRule")}
    ),
    "SetFailureRule": Level(
        free=dict.fromkeys(
            ("action", "name", "onJobFailureMessagePatterns", "onJobFailureReasons", "targetReplicatedJobs"), ENDS
        )
    ),
    "SetNetwork": Level(
        judged={"subdomain": "a set's subdomain begins"},
        free=dict.fromkeys(("enableDNSHostnames", "publishNotReadyAddresses"), "names of its own pods"),
    ),
    "SetStartup": Level(free={"startupPolicyOrder": ENDS}),
    "SetSuccess": Level(free=dict.fromkeys(("operator", "targetReplicatedJobs"), ENDS)),
    "ReplicatedJob": Level(
        judged={"replicas": SIZE, "template": ""},
        free={"dependsOn": ENDS, **dict.fromkeys(("groupName", "name"), "a part of the names of its Jobs")},
        below={"dependsOn": (EACH, "DependsOn"), "template": (ONE, "JobTemplate")},
    ),
    "DependsOn": Level(free=dict.fromkeys(("name", "status"), ENDS)),
    "JobTemplate": Level(
        judged={"metadata": "", "spec": ""}, below={"metadata": (ONE, "TemplateMeta"), "spec": (ONE, "Job")}
    ),
    "PyTorchJob": Level(
        judged={"pytorchReplicaSpecs": ""},
        free={"nprocPerNode": "a variable of its containers", "runPolicy": ENDS},
        refused={"elasticPolicy": "the number of pods would follow metrics"},
        below={"pytorchReplicaSpecs": (KEYED, "Replica"), "runPolicy": (ONE, "RunPolicy")},
    ),
    "Replica": Level(
        judged={"replicas": SIZE, "template": ""},
        free={"restartPolicy": ENDS},
        below={"template": (ONE, "PodTemplate")},
    ),
    "RunPolicy": Level(
        judged=OWN,
        free=dict.fromkeys(
            ("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "suspend", "ttlSecondsAfterFinished"), ENDS
        ),
        refused={"schedulingPolicy": "Slurm starts all pods of a job together"},
    ),
    "TrainJob": Level(
        judged={**OWN, "trainer": ""},
        free={
            **dict.fromkeys(("activeDeadlineSeconds", "suspend"), ENDS),
            **dict.fromkeys(("annotations", "initializer", "labels", "podSpecOverrides"), JUDGED_LATER),
            **dict.fromkeys(("runtimePatches", "runtimeRef"), JUDGED_LATER),
        },
        below={"runtimeRef": (ONE, "RuntimeRef"), "trainer": (ONE, "Trainer")},
    ),
    "RuntimeRef": Level(free=dict.fromkeys(("apiGroup", "kind", "name"), JUDGED_LATER)),
    "Trainer": Level(
        judged={"numNodes": SIZE},
        free=dict.fromkeys(("args", "command", "env", "image", "numProcPerNode", "resourcesPerNode"), JUDGED_LATER),
    ),
    "TrainingRuntime": Level(
        judged={"template": ""},
        free={"mlPolicy": JUDGED_LATER},
        refused={"podGroupPolicy": "Slurm starts all pods of a job together"},
        below={"template": (ONE, "SetTemplate")},
    ),
    "SetTemplate": Level(
        judged={"metadata": "", "spec": ""}, below={"metadata": (ONE, "TemplateMeta"), "spec": (ONE, "JobSet")}
    ),
}
