# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a job has made in Kubernetes, of whatever kind this API server knows."""

from __future__ import annotations

from collections.abc import Iterator

from .api import METADATA, Api
from .config import Refused
from .gate_names import WORKLOADS
from .states import Json, Owner

BUILT_IN = {"batch": ["v1"]}


def made_by(owner: Owner, api: Api) -> list[tuple[str, Json]]:
    """Collection and metadata of everything that makes pods for a job. Raises Refused, Unreachable."""
    return [
        (collection, item)
        for collection in _collections(owner.namespace, api)
        for item in api.items(collection, METADATA)
        if item["metadata"]["name"].startswith(owner.prefix)
    ]


def _collections(namespace: str, api: Api) -> Iterator[str]:
    """A group may be served in several versions, and a kind in one of them only."""
    for group, resources in WORKLOADS.items():
        for version in BUILT_IN.get(group) or _versions(group, api):
            for resource in resources:
                yield f"/apis/{group}/{version}/namespaces/{namespace}/{resource}"


def _versions(group: str, api: Api) -> list[str]:
    """Versions in which the server knows a group; none if nobody has brought its definitions."""
    answer = api.get(f"/apis/{group}")
    if answer.status == 404:
        return []
    if not answer.ok:
        raise Refused(f"can't ask what {group} is: {answer.message}")
    return [version["version"] for version in answer.body["versions"]]
