# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A release of a chart as it is: helm's memory, and each object beside what a server-side apply would make of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from ...core.api.kubeconfig import Ask
from ...core.converge import DeviceError, Step
from .manifests import DEFINITION, Json, Kinds, differences, documents, title
from .plan import Record, Release, Thing

MANAGER = "drawbridge-release"
"""Not the gate's: what the gate says of a namespace and what a release needs of it stand side by side."""
POLL_S, ESTABLISHED_S = 0.2, 30.0
MISSING = 404
"""The object, its kind or its namespace."""


class Charts(Protocol):
    """What is asked of helm; see kube.releases.helm_io."""

    def verify(self) -> None:
        """Refuse another chart than the one that was meant."""
        ...

    def rendered(self, values: Mapping[str, Any], kubernetes: str, api_versions: Sequence[str], there: bool) -> str:
        """The chart's objects as text."""
        ...

    def record(self) -> Record | None:
        """What helm remembers."""
        ...

    def upgrade(self, values: Mapping[str, Any]) -> None:
        """Install or upgrade."""
        ...


class HelmRelease:
    """A release. Objects of the same manager's earlier runs and fields that only others own stay as they are."""

    def __init__(self, ask: Ask, helm: Charts, namespace: Json, values: Mapping[str, Any]) -> None:
        self._ask, self._helm, self._namespace, self._values = ask, helm, namespace, values
        self._items: dict[str, Json] = {}
        self._kinds = Kinds()
        self._seen: dict[str, dict[str, str]] = {}

    @property
    def name(self) -> str:
        """The release's namespace; stands in messages."""
        return f"release in {self._namespace['metadata']['name']}"

    def read(self) -> Release:
        """Look at every object of the chart, rendered for this very cluster. Raises DeviceError."""
        record = self._helm.record()
        if not self._items:
            self._helm.verify()
            self._items = self._render(record is not None)
        return Release(record, {name: self._look(name) for name in self._items})

    def apply(self, steps: Sequence[Step[Release]]) -> None:
        """Do them in order; what helm has mended on its way is not written again."""
        for step in steps:
            verb, name = step.payload
            if verb == "release":
                self._helm.upgrade(self._values)
            elif not self._look(name).right:
                self._write(name)

    def _render(self, there: bool) -> dict[str, Json]:
        version = self._asked("GET", "/version", None)["gitVersion"]
        for path in ("/api", "/apis"):
            self._kinds.learn(self._asked("GET", path, None))
        text = self._helm.rendered(self._values, version, self._kinds.names(), there)
        found = documents(text, self._namespace["metadata"]["name"], self._kinds)
        return {title(item): item for item in [self._namespace, *found]}

    def _look(self, name: str) -> Thing:
        """One object, and what an apply would make of it; one that is not there is tried too, where that can be."""
        path = self._path(name)
        status, live = self._ask("GET", path, None)
        if status not in (200, MISSING):
            raise DeviceError(f"{name} can't be read: {live.get('message', status)}")
        predicted = self._applied(name, "&dryRun=All", may_lack=status == MISSING)
        if status == MISSING:
            return Thing(False)
        found = differences(live, predicted)
        wanted = self._seen.setdefault(name, {})
        wanted |= {path: pair[1] for path, pair in found.items()}
        return Thing(True, {**wanted, **{path: pair[0] for path, pair in found.items()}}, dict(wanted))

    def _write(self, name: str) -> None:
        self._applied(name, "")
        if self._items[name]["kind"] == DEFINITION:
            self._wait_established(name)

    def _applied(self, name: str, query: str, may_lack: bool = False) -> Json:
        path = f"{self._path(name)}?fieldManager={MANAGER}&force=true&fieldValidation=Strict{query}"
        status, answer = self._ask("APPLY", path, self._items[name])
        if status >= 300 and not (may_lack and status == MISSING):
            raise DeviceError(f"the API server refuses {name}: {answer.get('message', status)}")
        return answer

    def _wait_established(self, name: str) -> None:
        deadline = time.monotonic() + ESTABLISHED_S
        while True:
            answer = self._asked("GET", self._path(name), None)
            # null at first
            conditions = {it["type"]: it["status"] for it in answer.get("status", {}).get("conditions") or []}
            if conditions.get("Established") == "True":
                return
            if time.monotonic() > deadline:
                raise DeviceError(f"{name} was written, but the API server does not serve it: {conditions}")
            time.sleep(POLL_S)

    def _path(self, name: str) -> str:
        item = self._items[name]
        try:
            return quote(self._kinds.path(item))
        except KeyError as err:
            kind = f"{item['apiVersion']} {item['kind']}"
            raise DeviceError(f"the cluster knows no {kind}, which the chart makes; install what brings it") from err

    def _asked(self, method: str, path: str, body: Json | None) -> Json:
        status, answer = self._ask(method, path, body)
        if status >= 300:
            raise DeviceError(f"{path} can't be read: {answer.get('message', status)}")
        return answer
