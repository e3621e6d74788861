# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a release: helm's record, and each object compared with a server-side dry run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ...core.api.kubeconfig import Ask
from ...core.converge import DeviceError, Step
from .helm_io import Helm
from .manifests import DEFINITION, Json, Kinds, differences, documents, of_release, title
from .plan import ObjectState, Release

MANAGER = "drawbridge-release"
"""Not the gate's field manager, whose next apply would take a chart's fields away."""
POLL_S, SERVED_S = 0.2, 60.0
GROUP_VERSION_KIND = "x-kubernetes-group-version-kind"
MISSING = 404
"""The object, its kind or its namespace does not exist."""


class HelmRelease:
    """A release in a namespace that exists. Objects that the chart no longer has stay, and others' fields, too."""

    def __init__(self, ask: Ask, helm: Helm, space: str, values: Mapping[str, Any]) -> None:
        self._ask, self._helm, self._space, self._values = ask, helm, space, values
        self._items: dict[str, Json] = {}
        self._kinds = Kinds()
        self._seen: dict[str, dict[str, str]] = {}

    @property
    def name(self) -> str:
        """The release in messages."""
        return f"release in {self._space}"

    def read(self) -> Release:
        """Render the chart for this cluster and read every object. Raises DeviceError."""
        record = self._helm.record()
        if not self._items:
            self._helm.verify()
            self._items = self._render(record is not None)
        return Release(record, {name: self._read_object(name) for name in self._items})

    def apply(self, steps: Sequence[Step[Release]]) -> None:
        """Do them in order; an object that helm has repaired meanwhile is not written again."""
        for step in steps:
            verb, name = step.payload
            if verb == "release":
                self._helm.upgrade(self._values)
            elif not self._read_object(name).in_sync:
                self._write(name)

    def _render(self, exists: bool) -> dict[str, Json]:
        version = self._get("/version")["gitVersion"]
        for path in ("/api", "/apis"):
            self._kinds.learn(self._get(path))
        text = self._helm.rendered(self._values, version, self._kinds.names(), exists)
        found = documents(text, self._space, self._kinds)
        return {title(item): of_release(item, self._helm.release, self._space) for item in found}

    def _read_object(self, name: str) -> ObjectState:
        """One object, and the result of an apply. A missing object is applied too, so that faults are found early."""
        path = self._path(name)
        status, live = self._ask("GET", path, None)
        if status not in (200, MISSING):
            raise DeviceError(f"{name} can't be read: {live.get('message', status)}")
        predicted = self._applied(name, "&dryRun=All", may_lack=status == MISSING)
        if status == MISSING:
            return ObjectState(False)
        found = differences(live, predicted)
        wanted = self._seen.setdefault(name, {})
        wanted |= {path: pair[1] for path, pair in found.items()}
        return ObjectState(True, {**wanted, **{path: pair[0] for path, pair in found.items()}}, dict(wanted))

    def _write(self, name: str) -> None:
        self._applied(name, "")
        if self._items[name]["kind"] == DEFINITION:
            self._wait_served(name)

    def _applied(self, name: str, query: str, may_lack: bool = False) -> Json:
        path = f"{self._path(name)}?fieldManager={MANAGER}&force=true&fieldValidation=Strict{query}"
        status, answer = self._ask("APPLY", path, self._items[name])
        if status >= 300 and not (may_lack and status == MISSING):
            raise DeviceError(f"the API server refuses {name}: {answer.get('message', status)}")
        return answer

    def _wait_served(self, name: str) -> None:
        """Wait until the API server serves a new kind, and its OpenAPI documents have it.

        Before, helm would list all CustomResourceDefinitions, which a run has no right to do.
        """
        deadline = time.monotonic() + SERVED_S
        while not (self._established(name) and self._described(self._items[name]["spec"])):
            if time.monotonic() > deadline:
                raise DeviceError(f"{name} was written, but the API server does not serve it within {SERVED_S:.0f} s")
            time.sleep(POLL_S)

    def _established(self, name: str) -> bool:
        # null at first
        conditions = self._get(self._path(name)).get("status", {}).get("conditions") or []
        return any(it["type"] == "Established" and it["status"] == "True" for it in conditions)

    def _described(self, spec: Json) -> bool:
        """Whether all served versions of a kind are in the server's OpenAPI documents."""
        for version in (it["name"] for it in spec["versions"] if it.get("served")):
            status, document = self._ask("GET", f"/openapi/v3/apis/{spec['group']}/{version}", None)
            if status not in (200, MISSING):
                raise DeviceError(f"the API server does not describe its kinds: {document.get('message', status)}")
            kind = {"group": spec["group"], "kind": spec["names"]["kind"], "version": version}
            schemas = document.get("components", {}).get("schemas", {}).values()
            if not any(kind in schema.get(GROUP_VERSION_KIND, ()) for schema in schemas):
                return False
        return True

    def _path(self, name: str) -> str:
        item = self._items[name]
        try:
            return quote(self._kinds.path(item))
        except KeyError as err:
            kind = f"{item['apiVersion']} {item['kind']}"
            message = f"the cluster has no kind {kind}, which the chart creates; install its CustomResourceDefinition"
            raise DeviceError(message) from err

    def _get(self, path: str) -> Json:
        status, answer = self._ask("GET", path, None)
        if status >= 300:
            raise DeviceError(f"{path} can't be read: {answer.get('message', status)}")
        return answer
