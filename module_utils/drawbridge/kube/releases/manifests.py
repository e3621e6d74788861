# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes objects as text and as the API server has them: paths, and differences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...core.libraries import library

if TYPE_CHECKING:
    import yaml
else:
    yaml = library("yaml")

Json = dict[str, Any]
SERVERS_OWN = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
"""Metadata that the API server writes."""
HOOK = "helm.sh/hook"
DEFINITION = "CustomResourceDefinition"
SHOWN = 160
"""A longer value is cut in a diff."""


@dataclass
class Kinds:
    """The cluster's kinds: (apiVersion, kind) -> plural, and whether it is namespaced."""

    known: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)

    def learn(self, discovery: Json) -> None:
        """Add the kinds of an aggregated discovery document."""
        for group in discovery.get("items", []):
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                where = f"{name}/{version['version']}" if name else version["version"]
                for resource in version.get("resources", []):
                    kind = resource.get("responseKind", {}).get("kind", "")
                    self.known[where, kind] = (resource["resource"], resource["scope"] == "Namespaced")

    def learn_definition(self, definition: Json) -> None:
        """Add the kinds of a CustomResourceDefinition."""
        spec = definition["spec"]
        for version in spec["versions"]:
            where = f"{spec['group']}/{version['name']}"
            self.known[where, spec["names"]["kind"]] = (spec["names"]["plural"], spec["scope"] == "Namespaced")

    def names(self) -> list[str]:
        """Versions and kinds in the form of helm's --api-versions."""
        return sorted({where for where, _unused in self.known} | {f"{where}/{kind}" for where, kind in self.known})

    def path(self, item: Json) -> str:
        """An object's path. Raises KeyError for a kind that the cluster does not have."""
        where, metadata = item["apiVersion"], item["metadata"]
        plural, namespaced = self.known[where, item["kind"]]
        root = f"/apis/{where}" if "/" in where else f"/api/{where}"
        space = f"/namespaces/{metadata['namespace']}" if namespaced else ""
        return f"{root}{space}/{plural}/{metadata['name']}"


def documents(text: str, namespace: str, kinds: Kinds) -> list[Json]:
    """The objects of a rendered chart, without hooks; CustomResourceDefinitions come first."""
    loaded = [item for item in yaml.safe_load_all(text) if item]
    found = [item for item in loaded if HOOK not in (item["metadata"].get("annotations") or {})]
    for item in found:
        if item["kind"] == DEFINITION:
            kinds.learn_definition(item)
    for item in found:
        item["metadata"].pop("creationTimestamp", None)
        item.pop("status", None)
        if kinds.known.get((item["apiVersion"], item["kind"]), ("", True))[1]:
            item["metadata"].setdefault("namespace", namespace)
        else:
            item["metadata"].pop("namespace", None)
    return sorted(found, key=lambda item: item["kind"] != DEFINITION)


def of_release(item: Json, release: str, namespace: str) -> Json:
    """The object with the marks that helm gives to objects of a release. It refuses existing ones without them.

    It does not mark definitions of kinds, which it never changes.
    """
    if item["kind"] == DEFINITION:
        return item
    metadata = item["metadata"]
    labels = {**(metadata.get("labels") or {}), "app.kubernetes.io/managed-by": "Helm"}
    marks = {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": namespace}
    annotations = {**(metadata.get("annotations") or {}), **marks}
    return {**item, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def title(item: Json) -> str:
    """Kind, namespace and name."""
    metadata = item["metadata"]
    space = f"{metadata['namespace']}/" if "namespace" in metadata else ""
    return f"{item['kind']} {space}{metadata['name']}"


def differences(live: Json, predicted: Json) -> dict[str, tuple[str, str]]:
    """Fields that an apply would change: path -> (value now, value then). Values of Secrets are hidden."""
    hide = predicted.get("kind") == "Secret"
    pairs = dict(_differ(_comparable(live), _comparable(predicted), ""))
    return {path: (_shown(was, hide), _shown(will, hide)) for path, (was, will) in pairs.items()}


def _differ(was: Any, will: Any, path: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
    if isinstance(was, Mapping) and isinstance(will, Mapping):
        for key in sorted({*was, *will}):
            yield from _differ(was.get(key), will.get(key), f"{path}.{key}" if path else key)
    elif _alike(was, will):
        for index, (one, other) in enumerate(zip(was, will)):
            name = one.get("name") if isinstance(one, Mapping) else None
            yield from _differ(one, other, f"{path}[{name or index}]")
    elif was != will:
        yield path, (was, will)


def _alike(was: Any, will: Any) -> bool:
    """Whether both are lists of mappings with the same names in the same order: only their items differ."""
    lists = [value for value in (was, will) if isinstance(value, list) and all(isinstance(it, Mapping) for it in value)]
    names = [[item.get("name") for item in items] for items in lists]
    return len(names) == 2 and names[0] == names[1]


def _comparable(item: Json) -> Json:
    metadata = {key: value for key, value in item.get("metadata", {}).items() if key not in SERVERS_OWN}
    return {**{key: value for key, value in item.items() if key != "status"}, "metadata": metadata}


def _shown(value: Any, hide: bool) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    if hide:
        return f"(secret {hashlib.sha256(text.encode()).hexdigest()[:8]})"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
