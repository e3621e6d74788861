# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Releases of IBM's driver for Kubernetes: what each says in its resource CSIScaleOperator, and IBM's manifest of it.

Source: IBM's repository at the tag of each release, generated/installer and operator/config/crd.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
MANIFEST = (
    "https://raw.githubusercontent.com/IBM/ibm-spectrum-scale-csi/v{}/generated/installer/"
    "ibm-spectrum-scale-csi-operator.yaml"
)
"""IBM's manifest of a release. Other branches point at images of developers."""
GROUP, VERSION, KIND, PLURAL = "csi.ibm.com", "v1", "CSIScaleOperator", "csiscaleoperators"
SELECTORS = tuple(f"{it}NodeSelector" for it in ("attacher", "provisioner", "resizer", "snapshotter"))
PLUGIN_SELECTOR = "pluginNodeSelector"
LONGEST_ID = 20
"""Characters of a cluster's id."""


@dataclass(frozen=True)
class Release:
    """A release of the driver."""

    digest: str
    """SHA-256 of IBM's manifest."""
    gpfs: str
    """The release of Storage Scale that IBM pairs it with. Older ones lack what the driver needs."""
    primary: bool = False
    """Whether a file system holds the driver's own fileset."""
    local_cluster: bool = False
    """Whether the resource names the cluster of the nodes."""


RELEASES: Mapping[str, Release] = {
    "2.12.1": Release("1d4020b640238fa2d8585ab43a5183be261912242d381943e58a31030d547ded", "5.2.1", primary=True),
    "2.13.2": Release("842d7ed5c47f25b01722f90cfe285dc7f4a7446082b1116bad6b4c46397087b0", "5.2.2", primary=True),
    "2.14.3": Release("057b42b4accccf50fed743dc473624fd1e9e0ec31345a828b44a9b6c11c21011", "5.2.3", primary=True),
    "3.0.0": Release("aa3ab2fe8ecaa160bb0bdf5a7fe53aa2e9b00c91e332291542784b0410472421", "6.0.0", local_cluster=True),
}
_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}


def older(version: str, than: str) -> bool:
    """Whether the version of packages, such as 5.2.3-0, is of an older release."""
    return _numbers(version) < _numbers(than)


def _numbers(version: str) -> list[int]:
    parts = version.partition("-")[0].split(".")
    return [int(part) if part.isdigit() else 0 for part in parts[:3]]


def definition(release: Release) -> Json:
    """The kind CSIScaleOperator of a release with the fields that Drawbridge writes, for comparisons in tests."""
    schema = _object(
        {"spec": _object(_spec(release), _required(release)), "status": _status()}, also=("apiVersion", "kind")
    )
    version = {"name": VERSION, "served": True, "storage": True, "subresources": {"status": {}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"kind": KIND, "listKind": f"{KIND}List", "plural": PLURAL, "singular": KIND.lower()},
            "scope": "Namespaced",
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def _required(release: Release) -> tuple[str, ...]:
    return ("clusters", *(["localScaleCluster"] if release.local_cluster else []))


def _spec(release: Release) -> Json:
    selector = _list(_object({"key": _TEXT, "value": _TEXT}, ("key", "value")))
    toleration = {**dict.fromkeys(("effect", "key", "operator", "value"), _TEXT), "tolerationSeconds": _NUMBER}
    return {
        "clusters": _list(_cluster(release)),
        **({"localScaleCluster": _TEXT} if release.local_cluster else {}),
        **dict.fromkeys((*SELECTORS, PLUGIN_SELECTOR), selector),
        "nodeMapping": _list(_object({"k8sNode": _TEXT, "spectrumscaleNode": _TEXT}, ("k8sNode", "spectrumscaleNode"))),
        "tolerations": _list(_object(toleration)),
    }


def _cluster(release: Release) -> Json:
    primary = _object(dict.fromkeys(("inodeLimit", "primaryFs", "primaryFset", "remoteCluster"), _TEXT))
    return _object(
        {
            "id": {**_TEXT, "maxLength": LONGEST_ID},
            "cacert": _TEXT,
            **({"primary": primary} if release.primary else {}),
            "restApi": _list(_object({"guiHost": _TEXT, "guiPort": _NUMBER}, ("guiHost",))),
            "secrets": _TEXT,
            "secureSslMode": {"type": "boolean", "default": False},
        },
        ("id", "restApi", "secrets", "secureSslMode"),
    )


def _status() -> Json:
    condition = {
        **dict.fromkeys(("type", "message", "reason"), _TEXT),
        "status": {**_TEXT, "enum": ["True", "False", "Unknown"]},
        "lastTransitionTime": {**_TEXT, "format": "date-time"},
    }
    conditions = _list(_object(condition, ("lastTransitionTime", "message", "reason", "status", "type")))
    versions = _list(_object({"name": _TEXT, "version": _TEXT}))
    return _object({"conditions": conditions, "versions": versions})


def _object(properties: Json, required: tuple[str, ...] = (), also: tuple[str, ...] = ()) -> Json:
    found = {"type": "object", "properties": {**dict.fromkeys(also, _TEXT), **properties}}
    return {**found, "required": list(required)} if required else found


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}
