# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Workloads that a job created, of all kinds that this API server serves."""

from __future__ import annotations

from collections.abc import Iterator

from .api import METADATA, Api
from .config import Refused
from .gate_names import WORKLOADS
from .states import Json, Owner

BUILT_IN = {"batch": ["v1"]}


def made_by(owner: Owner, api: Api) -> list[tuple[str, Json]]:
    """Collection and metadata of a job's workloads. Raises Refused, Unreachable."""
    return [
        (collection, item)
        for collection in _collections(owner.namespace, api)
        for item in api.items(collection, METADATA)
        if item["metadata"]["name"].startswith(owner.prefix)
    ]


def _collections(namespace: str, api: Api) -> Iterator[str]:
    """URL paths of all kinds. A group may have several versions, and a kind only one of them."""
    known = _groups(api)
    for group, resources in WORKLOADS.items():
        for version in BUILT_IN.get(group) or known.get(group, []):
            for resource in resources:
                yield f"/apis/{group}/{version}/namespaces/{namespace}/{resource}"


def _groups(api: Api) -> dict[str, list[str]]:
    answer = api.get("/apis")
    if not answer.ok:
        raise Refused(f"can't list the groups of this API server: {answer.message}")
    return {group["name"]: [it["version"] for it in group["versions"]] for group in answer.body["groups"]}
