# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The driver by the API server, as the installer: objects are compared by a dry run, like those of a chart."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ....core.api.kubeconfig import Ask
from ....core.converge import DeviceError, Step
from ....core.names import DRIVER_NODES, DRIVER_SIDECARS
from .objects import (
    DEFINITION,
    DRIVER,
    KIND,
    MARK,
    NAMED,
    NAMESPACE,
    OPERATOR,
    PART,
    PLACES,
    RESOURCE,
    SECRETS,
    SIDECARS,
    Json,
    Key,
    key_of,
    label,
    marked,
    with_mark,
)
from .plan import DriverState, Item, fixed_fault, slot
from .status import Seen, fault, late

Differences = Callable[[Json, Json], "dict[str, tuple[str, str]]"]
"""Fields that an apply would change, from an object and the prediction of a dry run."""
OK, MISSING = 200, 404
DEPLOYMENTS = "/apis/apps/v1/deployments"
POLL_S = 0.5
APPLY = "?fieldManager=drawbridge&force=true&fieldValidation=Strict"
LABELS = (DRIVER_NODES, DRIVER_SIDECARS)
SELECTOR = f"?labelSelector={PART}%3D{MARK[PART]}"
LISTED = ("StorageClass", "ConfigMap")
"""Kinds whose names follow from the intent."""
_FETCH_S = 60
OTHER, NOT_SHOWN = "(not shown, another)", "(not shown)"
NOTHING: Json = {"metadata": {}}


@dataclass(frozen=True)
class Wanted:
    """IBM's manifest, then objects of the intent; the resource names a Secret of each cluster without its slot."""

    manifest: Sequence[Json] = ()
    objects: Sequence[Json] = ()
    resource: Json = field(default_factory=dict)
    credentials: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """User and password, by the part of the intent: cluster, owner."""
    variable: str = "credentials"
    """The variable that has them, for messages."""


class ScaleDriver:
    """IBM's driver in a cluster, and labels of its nodes. Without `wanted` only what runs have made."""

    name = "Storage Scale driver"

    def __init__(self, ask: Ask, differences: Differences, wanted: Wanted | None, timeout_s: float = 120) -> None:
        self._ask, self._differences, self._wanted, self._timeout_s = ask, differences, wanted, timeout_s
        self._bodies: dict[Key, Json] = {}
        self._seen: dict[Key, dict[str, str]] = {}

    def read(self) -> DriverState:
        """All objects by their names, and further ones of runs by their label. Raises DeviceError."""
        if not (self._wanted or self._installed()):
            return DriverState()
        self._bodies = {key_of(it): it for it in self._manifests()} if self._wanted else {}
        items = {key: self._item(key, body) for key, body in self._bodies.items()}
        others = frozenset(key for key in self._made() if key not in items)
        return DriverState(items, others, self._nodes(), () if self._wanted else self._volumes())

    def _installed(self) -> bool:
        """Whether a run installed the operator. Each run has the right to list Deployments, also without the driver."""
        found = self._must(*self._ask("GET", f"{DEPLOYMENTS}{SELECTOR}", None), "Deployments")
        return bool(found["items"])

    def apply(self, steps: Sequence[Step[DriverState]]) -> None:
        """In order. A new kind is served before its resource is written, and a resource ends before its operator."""
        for step in steps:
            verb, key, *more = step.payload
            if verb == "LABEL":
                self._label(key, more[0])
            elif verb == "DELETE":
                self._delete(key)
            else:
                self._write(key)

    def seen(self) -> Seen:
        """What there is of the driver."""
        return Seen(
            self._got(KIND, RESOURCE),
            self._got("Deployment", OPERATOR),
            self._got("DaemonSet", RESOURCE),
            {name: self._got("Deployment", name) for name in SIDECARS},
        )

    def now(self) -> tuple[str, str]:
        """Why the driver does not work, and how many nodes wait for it; both may be empty."""
        seen = self.seen()
        return fault(seen, (self._wanted or Wanted()).variable), late(seen)

    def wait(self) -> tuple[str, str]:
        """The same, once the driver works or the time limit is over."""
        deadline = time.monotonic() + self._timeout_s
        while (found := self.now())[0] and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return found

    def _manifests(self) -> list[Json]:
        wanted = self._wanted or Wanted()
        live = self._got(KIND, RESOURCE) or {}
        clusters, secrets = [], []
        for cluster in wanted.resource["spec"]["clusters"]:
            secret = self._secret(cluster, live)
            secrets.append(secret)
            clusters.append({**cluster, "secrets": secret["metadata"]["name"]})
        resource = {**wanted.resource, "spec": {**wanted.resource["spec"], "clusters": clusters}}
        early = [it for it in wanted.objects if it["kind"] != "StorageClass"]
        late_ones = [it for it in wanted.objects if it["kind"] == "StorageClass"]
        return [*wanted.manifest, *(with_mark(it) for it in (*early, *secrets, resource, *late_ones))]

    def _secret(self, cluster: Json, live: Json) -> Json:
        """The Secret of a cluster, in the slot that it has, or with a new content in the other one."""
        base = cluster["secrets"]
        given = (self._wanted or Wanted()).credentials[base.removeprefix("drawbridge-")]
        used = [it.get("secrets", "") for it in (live.get("spec") or {}).get("clusters") or []]
        active = next((name for name in used if name in SECRETS and name.startswith(f"{base}-")), "")
        body = {key: base64.b64encode(given[key].encode()).decode() for key in ("username", "password")}
        held = self._got("Secret", active or f"{base}-a")
        name = slot(active or f"{base}-a", bool(active and held), bool(held and held.get("data") == body))
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"product": "ibm-spectrum-scale-csi"}},
            "type": "Opaque",
            "data": body,
        }

    def _item(self, key: Key, body: Json) -> Item:
        live = self._got(*key)
        if live is None:
            return Item()
        live = {**live, "kind": key[0]}
        if key[0] == "StorageClass" and (why := fixed_fault(live, body)):
            return Item(True, marked(live), fixed=why)
        found = self._differences(live, self._applied(key, body, "&dryRun=All"))
        if key[0] == "Secret":
            found = {path: (OTHER, NOT_SHOWN) if path.startswith("data") else pair for path, pair in found.items()}
        wanted = self._seen.setdefault(key, {})
        wanted |= {path: pair[1] for path, pair in found.items()}
        return Item(True, marked(live), {**wanted, **{path: pair[0] for path, pair in found.items()}}, dict(wanted))

    def _made(self) -> list[Key]:
        """Objects that runs made."""
        found: list[Key] = []
        for kind in LISTED:
            items = self._must(*self._ask("GET", f"{PLACES[kind]}{SELECTOR}", None), f"{kind}s")["items"]
            found += [(kind, it["metadata"]["name"]) for it in items]
        named = [*(() if self._wanted else NAMED.items()), *(("Secret", name) for name in SECRETS)]
        return [*found, *(key for key in named if marked(self._got(*key) or NOTHING))]

    def _volumes(self) -> tuple[str, ...]:
        items = self._must(*self._ask("GET", "/api/v1/persistentvolumes", None), "PersistentVolumes")["items"]
        return tuple(
            sorted(it["metadata"]["name"] for it in items if (it["spec"].get("csi") or {}).get("driver") == DRIVER)
        )

    def _nodes(self) -> dict[str, frozenset[str]]:
        items = self._must(*self._ask("GET", "/api/v1/nodes", None), "Nodes")["items"]
        return {
            it["metadata"]["name"]: frozenset(key for key in it["metadata"].get("labels") or {} if key in LABELS)
            for it in items
        }

    def _label(self, name: str, wanted: frozenset[str]) -> None:
        labels = {key: "true" if key in wanted else None for key in LABELS}
        path = f"/api/v1/nodes/{name}"
        self._must(*self._ask("PATCH", path, {"metadata": {"labels": labels}}), f"Node {name}", "changed")

    def _write(self, key: Key) -> None:
        self._applied(key, self._bodies[key], "")
        if key[1] == DEFINITION:
            self._until(self._established, "the API server does not serve the kind CSIScaleOperator")

    def _established(self) -> bool:
        conditions = ((self._got("CustomResourceDefinition", DEFINITION) or {}).get("status") or {}).get("conditions")
        served = any(it["type"] == "Established" and it["status"] == "True" for it in conditions or ())
        return served and self._ask("GET", "/apis/csi.ibm.com/v1", None)[0] == OK

    def _delete(self, key: Key) -> None:
        status, answer = self._ask("DELETE", f"{PLACES[key[0]]}/{key[1]}", None)
        if status != MISSING:
            self._must(status, answer, label(key), "deleted")
        if key[0] == KIND:
            self._until(lambda: self._got(*key) is None, f"the operator has not ended {label(key)}")

    def _until(self, done: Callable[[], bool], why: str) -> None:
        deadline = time.monotonic() + self._timeout_s
        while not done():
            if time.monotonic() > deadline:
                raise DeviceError(f"{why} within {self._timeout_s:g} s")
            time.sleep(POLL_S)

    def _applied(self, key: Key, body: Json, query: str) -> Json:
        path = f"{PLACES[key[0]]}/{key[1]}{APPLY}{query}"
        return self._must(*self._ask("APPLY", path, body), label(key), "written")

    def _got(self, kind: str, name: str) -> Json | None:
        """An object, None for one that does not exist."""
        status, answer = self._ask("GET", f"{PLACES[kind]}/{name}", None)
        return None if status == MISSING else self._must(status, answer, f"{kind} {name}")

    @staticmethod
    def _must(status: int, answer: Json, what: str, done: str = "read") -> Json:
        if status >= 300:
            raise DeviceError(f"{what} can't be {done}: {answer.get('message', status)}")
        return answer


def fetched(source: str, variable: str) -> bytes:
    """The text of a path or a URL, which a variable sets. Raises DeviceError."""
    if not source.startswith(("http://", "https://")):
        try:
            return Path(source).expanduser().read_bytes()
        except OSError as err:
            raise DeviceError(f"{variable} {source} can't be read: {err}") from err
    # imported here, because only the machine that runs Ansible needs it
    from urllib.error import URLError

    from ansible.module_utils.urls import open_url

    try:
        return open_url(source, timeout=_FETCH_S).read()
    except (URLError, OSError) as err:
        raise DeviceError(
            f"{source} can't be read: {err}; without Internet copy the file and set {variable} to its path"
        ) from err
