# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""IBM's manifest of the operator: compared with a digest and with what a run has rights to, and kept on infra nodes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from ....core.converge import DeviceError
from ....core.libraries import library
from ....core.names import DRIVER_SIDECARS
from .objects import NAMESPACE, OF_IBM, Json, key_of, label, with_mark

if TYPE_CHECKING:
    import yaml
else:
    yaml = library("yaml")


def operator(text: bytes, digest: str, source: str) -> list[Json]:
    """The objects of IBM's manifest, definitions of kinds first. Raises DeviceError for any other text."""
    found = hashlib.sha256(text).hexdigest()
    if found != digest:
        raise DeviceError(
            f"{source} has the SHA-256 {found}, and IBM's manifest of this release has {digest}; use IBM's file of the"
            " release's tag, byte for byte"
        )
    try:
        items = [item for item in yaml.safe_load_all(text) if item]
    except yaml.YAMLError as err:
        raise DeviceError(f"{source} is no YAML: {err}") from err
    _expected(items, source)
    return [_ours(item) for item in sorted(items, key=lambda item: item["kind"] != "CustomResourceDefinition")]


def _expected(items: list[Json], source: str) -> None:
    """Raises DeviceError for an object that a run has no right to, or that is missing."""
    keys = [key_of(item) for item in items]
    if strange := [label(key) for key in keys if key not in OF_IBM]:
        raise DeviceError(f"{source} has {', '.join(strange)}, which no manifest of IBM's operator has")
    if missing := [label(key) for key in sorted(OF_IBM) if keys.count(key) != 1]:
        raise DeviceError(f"{source} must have each of these once: {', '.join(missing)}")
    spaces = {item["metadata"].get("namespace", NAMESPACE) for item in items}
    if spaces != {NAMESPACE}:
        raise DeviceError(f"{source} has objects in {', '.join(sorted(spaces))}, and the driver is in {NAMESPACE}")


def _ours(item: Json) -> Json:
    """Without what the API server writes. The operator tolerates every taint, so it is kept off gated nodes."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "creationTimestamp"}
    found: Json = with_mark({**{key: value for key, value in item.items() if key != "status"}, "metadata": metadata})
    if item["kind"] != "Deployment":
        return found
    template: dict[str, Any] = item["spec"]["template"]
    selector = {**(template["spec"].get("nodeSelector") or {}), DRIVER_SIDECARS: "true"}
    pod = {**template, "spec": {**template["spec"], "nodeSelector": selector}}
    return {**found, "spec": {**item["spec"], "template": pod}}
