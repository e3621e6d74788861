# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every field of a container: judged by a line of the policies, free, or refused. A field that is not here is refused.

Fields are those of the OpenAPI v3 of Kubernetes 1.34 to 1.37.
"""

from __future__ import annotations

from .model import EACH, ONE, Level

OWN_PROCESSES = "touches the pod's own processes only"
OWN_RESTARTS = "the pod ends with its job, whatever it does until then"
NOT_LINUX = "the nodes run Linux"
CLAIMS = "devices of claims are not counted by Slurm"
KUBELETS = "the kubelet would do it as root, or from the node's own address"

SECURITY = {"appArmorProfile": "AppArmor's profile is", "seccompProfile": "pods of jobs need seccompProfile"}
PROFILES = {"appArmorProfile": (ONE, "Profile"), "seccompProfile": (ONE, "Profile")}
HANDLERS = {
    "exec": (ONE, "Exec"),
    "httpGet": (ONE, "HTTPGet"),
    "sleep": (ONE, "Sleep"),
    "tcpSocket": (ONE, "TCPSocket"),
}
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

CONTAINERS: dict[str, Level] = {
    "ContainerSecurity": Level(
        judged={
            **SECURITY,
            **dict.fromkeys(("runAsGroup", "runAsUser"), "containers have the pod's uid and gid"),
            "allowPrivilegeEscalation": "allowPrivilegeEscalation: false",
            "capabilities": "no capability but IPC_LOCK",
            "privileged": "allowPrivilegeEscalation: false",
            "procMount": "procMount and seLinuxOptions",
        },
        free={"readOnlyRootFilesystem": OWN_PROCESSES, "runAsNonRoot": "refuses root only"},
        refused={"seLinuxOptions": "the runtime chooses the SELinux domain", "windowsOptions": NOT_LINUX},
        below={**PROFILES, "capabilities": (ONE, "Capabilities")},
    ),
    "Profile": Level(judged=dict.fromkeys(("localhostProfile", "type"), "AppArmor's profile is")),
    "Capabilities": Level(judged={"add": "no capability but IPC_LOCK"}, free={"drop": "takes rights away"}),
    "Container": Level(
        judged={
            "env": "",
            "envFrom": "",
            "image": "images of this namespace",
            "lifecycle": "",
            **dict.fromkeys(PROBES, ""),
            "ports": "",
            "resources": "no other device",
            "securityContext": "",
            "terminationMessagePath": "terminationMessagePath is /dev/termination-log",
            "volumeMounts": "",
            "workingDir": "containers need workingDir: /",
        },
        free={
            **dict.fromkeys(("args", "command", "stdin", "stdinOnce", "tty"), OWN_PROCESSES),
            "imagePullPolicy": "pulling anew finds the same image or a newer one",
            "name": "the API server checks its characters",
            "resizePolicy": "no container of a job is resized",
            "restartPolicy": OWN_RESTARTS,
            "restartPolicyRules": OWN_RESTARTS,
            "terminationMessagePolicy": "the kubelet reads the end of the container's own log",
        },
        refused={"volumeDevices": "block devices come from claims"},
        below={
            "env": (EACH, "Env"),
            "envFrom": (EACH, "EnvFrom"),
            "lifecycle": (ONE, "Lifecycle"),
            **dict.fromkeys(PROBES, (ONE, "Probe")),
            "ports": (EACH, "Port"),
            "resizePolicy": (EACH, "ResizePolicy"),
            "resources": (ONE, "Resources"),
            "restartPolicyRules": (EACH, "RestartRule"),
            "securityContext": (ONE, "ContainerSecurity"),
            "volumeMounts": (EACH, "Mount"),
        },
    ),
    "Resources": Level(judged={"limits": "no other device", "requests": "no other device"}, refused={"claims": CLAIMS}),
    "ResizePolicy": Level(free=dict.fromkeys(("resourceName", "restartPolicy"), "no container of a job is resized")),
    "RestartRule": Level(
        free=dict.fromkeys(("action", "exitCodes"), OWN_RESTARTS), below={"exitCodes": (ONE, "RestartCodes")}
    ),
    "RestartCodes": Level(free=dict.fromkeys(("operator", "values"), OWN_RESTARTS)),
    "Port": Level(
        judged={"hostPort": "hostPort needs hostNetwork"},
        free=dict.fromkeys(("containerPort", "name", "protocol"), "is a note for people"),
        refused={"hostIP": "the node would forward others' traffic"},
    ),
    "Mount": Level(
        judged={"mountPath": "is mounted at its own path", "readOnly": "needs readOnly: true"},
        free={
            "name": "names the volume",
            "mountPropagation": "back to the host takes a privileged container",
            "recursiveReadOnly": "takes rights away",
        },
        refused={"bindMountOptions": KUBELETS, "subPath": KUBELETS, "subPathExpr": KUBELETS},
    ),
    "Env": Level(
        judged={"valueFrom": ""},
        free=dict.fromkeys(("name", "value"), OWN_PROCESSES),
        below={"valueFrom": (ONE, "EnvSource")},
    ),
    "EnvSource": Level(
        judged={"secretKeyRef": "is not for jobs"},
        free={
            "configMapKeyRef": "a job reads the ConfigMaps of its namespace",
            "fieldRef": "is the pod's own",
            "resourceFieldRef": "is the pod's own",
        },
        refused={"fileKeyRef": KUBELETS},
        below={
            "configMapKeyRef": (ONE, "Key"),
            "fieldRef": (ONE, "FieldRef"),
            "resourceFieldRef": (ONE, "ResourceRef"),
            "secretKeyRef": (ONE, "Key"),
        },
    ),
    "Key": Level(free=dict.fromkeys(("key", "name", "optional"), "a part of the field above")),
    "FieldRef": Level(free=dict.fromkeys(("apiVersion", "fieldPath"), "is the pod's own")),
    "ResourceRef": Level(free=dict.fromkeys(("containerName", "divisor", "resource"), "is the pod's own")),
    "EnvFrom": Level(
        judged={"secretRef": "is not for jobs"},
        free={"configMapRef": "a job reads the ConfigMaps of its namespace", "prefix": OWN_PROCESSES},
        below={"configMapRef": (ONE, "Reference"), "secretRef": (ONE, "Reference")},
    ),
    "Reference": Level(free=dict.fromkeys(("name", "optional"), "a part of the field above")),
    "Lifecycle": Level(
        judged=dict.fromkeys(("postStart", "preStop"), ""),
        free={"stopSignal": OWN_PROCESSES},
        below=dict.fromkeys(("postStart", "preStop"), (ONE, "Handler")),
    ),
    "Handler": Level(judged=dict.fromkeys(HANDLERS, ""), below=HANDLERS),
    "Probe": Level(
        judged=dict.fromkeys(("exec", "grpc", "httpGet", "tcpSocket"), ""),
        free=dict.fromkeys(
            (
                *("failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds"),
                "terminationGracePeriodSeconds",
            ),
            OWN_RESTARTS,
        ),
        below={**{key: HANDLERS[key] for key in ("exec", "httpGet", "tcpSocket")}, "grpc": (ONE, "GRPC")},
    ),
    "Exec": Level(free={"command": OWN_PROCESSES}),
    "HTTPGet": Level(
        free=dict.fromkeys(("httpHeaders", "path", "port", "scheme"), "asks the pod itself"),
        refused={"host": KUBELETS, "protocol": KUBELETS},
        below={"httpHeaders": (EACH, "Pair")},
    ),
    "TCPSocket": Level(free={"port": "asks the pod itself"}, refused={"host": KUBELETS}),
    "GRPC": Level(free=dict.fromkeys(("port", "service"), "asks the pod itself"), refused={"mode": KUBELETS}),
    "Sleep": Level(free={"seconds": OWN_PROCESSES}),
    "Pair": Level(free=dict.fromkeys(("name", "value"), OWN_PROCESSES)),
}
