# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What an API server publishes of its kinds, against the closed list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.cel import LEVELS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.model import EACH, KEYED
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.workloads import (
    JUDGED_LATER,
)

Json = Mapping[str, Any]
KINDS = {
    "Pod": "api/v1",
    "Job": "apis/batch/v1",
    "JobSet": "apis/jobset.x-k8s.io/v1alpha2",
    "PyTorchJob": "apis/kubeflow.org/v1",
    "TrainJob": "apis/trainer.kubeflow.org/v1alpha1",
    "TrainingRuntime": "apis/trainer.kubeflow.org/v1alpha1",
}
"""Levels of workloads, with the place of their schema below /openapi/v3."""


def spec_of(kind: str, schemas: Json) -> Json:
    """The schema of a kind's spec."""
    [found] = [it for it in schemas.values() if any(one["kind"] == kind for one in _kinds(it) if "spec" in _fields(it))]
    spec: Json = _fields(found)["spec"]
    return spec


def gaps(kind: str, schema: Json, schemas: Json, where: str = "spec") -> Iterator[str]:
    """Fields of the schema, down to scalars, that have no row."""
    level, schema = LEVELS[kind], _resolved(schema, schemas)
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        yield f"{where} has fields that no schema lists"
    rows = {*level.known, *level.refused}
    yield from (f"{where}.{name} has no row" for name in sorted(_fields(schema).keys() - rows))
    for name in sorted(_fields(schema).keys() & set(level.known)):
        inner = _resolved(_fields(schema)[name], schemas)
        how, below = level.below.get(name, ("", ""))
        inside = {EACH: inner.get("items"), KEYED: inner.get("additionalProperties")}.get(how, inner) or {}
        if below:
            yield from gaps(below, inside, schemas, f"{where}.{name}")
        elif _objects(inner, schemas) and level.free.get(name) != JUDGED_LATER:
            yield f"{where}.{name} has fields of its own, but the list has no level for them"


def _kinds(schema: Json) -> list[Json]:
    found: list[Json] = schema.get("x-kubernetes-group-version-kind", [])
    return found


def _fields(schema: Json) -> dict[str, Any]:
    return dict(schema.get("properties", {}))


def _objects(schema: Json, schemas: Json) -> bool:
    """Whether it holds objects with named fields, or such as no schema lists."""
    inner = [schema, *(schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict))]
    whole = (_resolved(it, schemas) for it in inner)
    return any(_fields(it) or it.get("x-kubernetes-preserve-unknown-fields") for it in whole)


def _resolved(schema: Json, schemas: Json) -> Json:
    """The schema that a reference leads to."""
    for part in (schema, *schema.get("allOf", [])):
        if "$ref" in part:
            return _resolved(schemas[part["$ref"].rpartition("/")[2]], schemas)
    return schema
