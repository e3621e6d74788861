# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for NVIDIA's chart, which the lab can't download: the same name, release and values.

It is made from the tree of values that the vendor's own templates read. A schema refuses every other value, and a
ConfigMap shows the values. Tests edit the operator's own object, its kind and its Deployment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from module_utils.drawbridge.kube.releases.catalogue import NVIDIA
from module_utils.drawbridge.kube.releases.values import WHOLE, Tree, tree

ABOUT = """apiVersion: v2
name: {name}
version: {version}
appVersion: {version}
description: stand-in with the values of the vendor's chart
"""
KIND = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clusterpolicies.nvidia.com
spec:
  group: nvidia.com
  names: {kind: ClusterPolicy, listKind: ClusterPolicyList, plural: clusterpolicies, singular: clusterpolicy}
  scope: Cluster
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
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
        "crds/kind.yaml": KIND,
        "templates/objects.yaml": OBJECTS + SHOWN + "".join(_shown(path) for path in paths(known)),
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


def _shown(path: tuple[str, ...]) -> str:
    keys = " ".join(json.dumps(key) for key in path)
    return f'  "{".".join(path)}": {{{{ dig {keys} "(not set)" (.Values | merge (dict)) | toJson | quote }}}}\n'
