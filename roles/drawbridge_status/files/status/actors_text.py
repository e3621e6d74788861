# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who wrote what on a Node object, by its managedFields. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..gate.gate_names import LABEL, TAINT
from .model import Actor

OWN = ("drawbridge", "drawbridge-gate", "kubelet", "kube-controller-manager", "cloud-controller-manager")
"""Programs whose writes are expected: the kubelet registers a node closed, controllers add their own taints."""
FIELDS = {
    "cordon": ("f:spec", "f:unschedulable"),
    "taints": ("f:spec", "f:taints"),
    f"label {LABEL}": ("f:metadata", "f:labels", f"f:{LABEL}"),
}
"""What Drawbridge relies on. The server keeps one writer of all taints together."""


def actors(text: str) -> tuple[Actor, ...]:
    """Foreign programs that wrote a field last, from `kubectl get node NAME -o json`."""
    node = json.loads(text)
    entries = sorted(node["metadata"].get("managedFields", ()), key=lambda entry: str(entry.get("time", "")))
    last = {what: actor for entry in entries for what, actor in _written(entry)}
    return tuple(actor for actor in last.values() if actor.who not in OWN) + tuple(_taints(node["spec"]))


def _written(entry: Mapping[str, Any]) -> Iterator[tuple[str, Actor]]:
    """The fields of FIELDS that one program owns."""
    for what, path in FIELDS.items():
        found: Any = entry.get("fieldsV1", {})
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        if found is not None:
            yield what, Actor(what, str(entry.get("manager") or "an unnamed program"), str(entry.get("time", "")))


def _taints(spec: Mapping[str, Any]) -> Iterator[Actor]:
    """Taints of others: they keep pods of jobs away, or end them."""
    for taint in spec.get("taints", ()):
        key = str(taint.get("key", ""))
        if key != TAINT and not key.startswith("node.kubernetes.io/"):
            yield Actor(f"taint {key}:{taint.get('effect', '')}", "", str(taint.get("timeAdded") or ""))
