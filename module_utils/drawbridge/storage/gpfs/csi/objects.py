# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects of IBM's driver for Storage Scale: names as IBM has them, where they are, and marks of what a run made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.names import PREFIX
from ...model import Right

Json = dict[str, Any]
NAMESPACE = "ibm-spectrum-scale-csi-driver"
"""IBM's manifest has no other."""
DRIVER = "spectrumscale.csi.ibm.com"
RESOURCE, OPERATOR = "ibm-spectrum-scale-csi", "ibm-spectrum-scale-csi-operator"
"""The resource CSIScaleOperator and the driver's DaemonSet; the operator and all that it needs."""
OPERATORS = (OPERATOR,)
KIND, DEFINITION = "CSIScaleOperator", "csiscaleoperators.csi.ibm.com"
SIDECARS = tuple(f"{RESOURCE}-{it}" for it in ("attacher", "provisioner", "resizer", "snapshotter"))
"""Deployments that the operator makes."""
SLOTS = ("a", "b")
SECRETS = tuple(f"drawbridge-{part}-{slot}" for part in ("cluster", "owner") for slot in SLOTS)
"""Two for each cluster. A new password goes into the other one, since the operator reads a Secret once."""
PART = f"{PREFIX}/part"
MARK = {PART: "gpfs-csi"}
"""Label of all that a run made for the driver."""
RBAC = "rbac.authorization.k8s.io"
_HERE = f"namespaces/{NAMESPACE}"
PLACES = {
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "ClusterRole": f"/apis/{RBAC}/v1/clusterroles",
    "ClusterRoleBinding": f"/apis/{RBAC}/v1/clusterrolebindings",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "ServiceAccount": f"/api/v1/{_HERE}/serviceaccounts",
    "Secret": f"/api/v1/{_HERE}/secrets",
    "ConfigMap": f"/api/v1/{_HERE}/configmaps",
    "Deployment": f"/apis/apps/v1/{_HERE}/deployments",
    "DaemonSet": f"/apis/apps/v1/{_HERE}/daemonsets",
    KIND: f"/apis/csi.ibm.com/v1/{_HERE}/csiscaleoperators",
}
"""Where objects are, by kind."""
OF_IBM = {
    ("CustomResourceDefinition", DEFINITION),
    *((kind, OPERATOR) for kind in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment")),
}
"""Kinds and names of IBM's manifest, the same in all releases."""
LEAVING = (
    *("StorageClass", KIND, "Secret", "ConfigMap", "CustomResourceDefinition"),
    *("ClusterRoleBinding", "ClusterRole", "ServiceAccount", "Deployment"),
)
"""The order of removal. The operator ends its driver, so it goes after its resource, and last: a run looks for it."""
NAMED = {
    **dict(sorted(OF_IBM)),
    KIND: RESOURCE,
}
"""The one object of each kind that a run knows by its name."""

Key = tuple[str, str]
"""Kind and name."""


def key_of(item: Json) -> Key:
    """Kind and name of an object."""
    return item["kind"], item["metadata"]["name"]


def label(key: Key) -> str:
    """An object in words."""
    return " ".join(key)


def marked(item: Json) -> bool:
    """Whether a run made an object."""
    return (item["metadata"].get("labels") or {}).get(PART) == MARK[PART]


def with_mark(item: Json) -> Json:
    """The object with the label of a run."""
    metadata = item["metadata"]
    return {**item, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **MARK}}}


APPLY = ("get", "create", "patch")


def rights(classes: Sequence[str]) -> list[Right]:
    """What a run needs: IBM's operator by name, and storage classes of the intent. Volumes are only counted."""
    every = (*APPLY, "delete")
    return [
        Right("apiextensions.k8s.io", "customresourcedefinitions", every, (DEFINITION,)),
        Right(RBAC, "clusterroles", (*every, "bind", "escalate"), OPERATORS),
        Right(RBAC, "clusterrolebindings", every, OPERATORS),
        Right("storage.k8s.io", "storageclasses", ("list",)),
        Right("storage.k8s.io", "storageclasses", every, tuple(classes)),
        Right("", "persistentvolumes", ("list",)),
        Right("", "nodes", ("list", "patch")),
        Right("", "serviceaccounts", every, OPERATORS, NAMESPACE),
        Right("apps", "deployments", every, OPERATORS, NAMESPACE),
        Right("apps", "deployments", ("get",), SIDECARS, NAMESPACE),
        Right("apps", "daemonsets", ("get",), (RESOURCE,), NAMESPACE),
        Right("csi.ibm.com", "csiscaleoperators", every, (RESOURCE,), NAMESPACE),
        Right("", "secrets", every, SECRETS, NAMESPACE),
        Right("", "configmaps", (*every, "list"), None, NAMESPACE),
    ]
