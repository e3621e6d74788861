# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for NVIDIA's chart, which the lab can't download: the same name, release and values.

It is made from the tree of values that the vendor's own templates read. A schema refuses every other value, and a
ConfigMap shows the values. Objects have the vendor's kinds and names; those of node-feature-discovery leave with its
value. Tests edit the operator's own object, its kind and its Deployment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from module_utils.drawbridge.kube.releases.catalogue import NVIDIA
from module_utils.drawbridge.kube.releases.values import WHOLE, Tree, tree

CRDS = "customresourcedefinitions"
ABOUT = """apiVersion: v2
name: {name}
version: {version}
appVersion: {version}
description: stand-in with the values of the vendor's chart
"""
KIND = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.{group}
spec:
  group: {group}
  names: {{kind: {kind}, listKind: {kind}List, plural: {plural}, singular: {singular}}}
  scope: Cluster
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {{type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
KINDS = {"clusterpolicies.nvidia.com": "ClusterPolicy"}
"""The one kind of which the chart makes an object; those of the others are of no matter."""
RIGHTS = """---
apiVersion: rbac.authorization.k8s.io/v1
kind: {kind}
metadata: {{name: {name}}}
# more than who installs it has
rules: [{{apiGroups: [""], resources: [pods], verbs: [delete]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {kind}Binding
metadata: {{name: {name}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {name}}}
subjects: [{{kind: ServiceAccount, name: {{{{ .Release.Name }}}}, namespace: {{{{ .Release.Namespace }}}}}}]
"""
WITH_NFD = '{{{{- if dig "nfd" "enabled" true (.Values | merge (dict)) }}}}\n{}{{{{- end }}}}\n'
NFD = """---
apiVersion: v1
kind: ServiceAccount
metadata: {name: node-feature-discovery, namespace: {{ .Release.Namespace }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: gpu-operator-node-feature-discovery-worker-conf, namespace: {{ .Release.Namespace }}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: gpu-operator-node-feature-discovery-worker, namespace: {{ .Release.Namespace }}}
spec:
  selector: {matchLabels: {app: nfd}}
  template: {metadata: {labels: {app: nfd}}, spec: {containers: [{name: nfd, image: registry.k8s.io/pause:3}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: gpu-operator-node-feature-discovery-master, namespace: {{ .Release.Namespace }}}
spec:
  replicas: 0
  selector: {matchLabels: {app: nfd-master}}
  template: {metadata: {labels: {app: nfd-master}}, spec: {containers: [{name: nfd, image: registry.k8s.io/pause:3}]}}
"""
OBJECTS = """apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata:
  name: cluster-policy
  labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}}
spec:
  {{- toYaml .Values | nindent 2 }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
  labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}}
spec:
  replicas: 1
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers:
        - name: operator
          image: registry.k8s.io/pause:{{ .Chart.AppVersion }}
          resources: {requests: {cpu: 200m, memory: 100Mi}, limits: {cpu: 500m, memory: 350Mi}}
"""
SHOWN = """---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-values
  namespace: {{ .Release.Namespace }}
data:
"""


def write(charts: Path) -> None:
    """Write the chart as a folder, named like the packed chart on a mirror."""
    folder, known = charts / f"{NVIDIA.name}-{NVIDIA.version}", tree(NVIDIA.tree)
    files = {
        "Chart.yaml": ABOUT.format(name=NVIDIA.name, version=NVIDIA.version),
        "values.yaml": "{}\n",
        "values.schema.json": json.dumps(schema(known)),
        "crds/kinds.yaml": _kinds(),
        "templates/objects.yaml": OBJECTS + SHOWN + "".join(_shown(path) for path in paths(known)),
        "templates/rights.yaml": _rights(optional=False),
        "templates/nfd.yaml": WITH_NFD.format(NFD + _rights(optional=True)),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def schema(known: Tree) -> dict[str, Any]:
    """A JSON schema that refuses what the chart does not read."""
    if WHOLE in known or not known:
        return {}
    inner = {key: schema(below) for key, below in known.items()}
    # helm adds an empty `global` by itself
    return {"type": "object", "additionalProperties": False, "properties": {"global": {}, **inner}}


def paths(known: Tree, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every value that the chart reads."""
    if WHOLE in known or not known:
        return [path]
    return [found for key, below in known.items() for found in paths(below, (*path, key))]


def _kinds() -> str:
    """Definitions of the vendor's names."""
    names = [name for it in NVIDIA.objects if it.resource == CRDS for name in it.names or ()]
    return "---\n".join(map(_kind, names))


def _kind(name: str) -> str:
    plural, _, group = name.partition(".")
    kind = KINDS.get(name, plural.capitalize())
    return KIND.format(plural=plural, group=group, kind=kind, singular=kind.lower())


def _rights(optional: bool) -> str:
    """Roles of the vendor's names, each with a binding."""
    roles = {"clusterroles": "ClusterRole", "roles": "Role"}
    chosen = [it for it in NVIDIA.objects if it.resource in roles and it.optional == optional]
    return "".join(RIGHTS.format(kind=roles[it.resource], name=name) for it in chosen for name in it.names or ())


def _shown(path: tuple[str, ...]) -> str:
    keys = " ".join(json.dumps(key) for key in path)
    return f'  "{".".join(path)}": {{{{ dig {keys} "(not set)" (.Values | merge (dict)) | toJson | quote }}}}\n'
