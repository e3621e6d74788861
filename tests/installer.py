# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rights that runs of Ansible have used in a lab, by the API server's audit log, and those that they have.

A right that no run of the scenario `default` uses is proven in another one, or is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.rights.rbac import (
    Grant,
    Right,
)

from tests.stack import AUDIT, ssh

Json = dict[str, Any]
USER = "drawbridge-installer"
"""Whose certificate the lab's kubeconfig for runs has."""
RBAC, CREATED = "rbac.authorization.k8s.io", 201
NOT_HELD = "attempting to grant RBAC permissions not currently held"
PROVEN_BY: dict[str, tuple[Grant, ...]] = {
    # a node that Kubernetes has used is emptied and closed
    "attacks": (
        Grant("", "nodes", ("get", "patch")),
        Grant("", "pods", ("get",)),
        Grant("", "pods/eviction", ("create",)),
        Grant("", "pods", ("create",), namespace="drawbridge-installer"),
        # jobs whose account has another namespace now
        Grant("", "serviceaccounts", ("list",)),
    ),
    # a host leaves the cluster
    "kube_node": (Grant("", "nodes", ("get", "delete")),),
}
"""What a whole site never does, and where the tests do it: these labs' audit logs are read, too."""


def events() -> list[Json]:
    """What runs have asked for in this lab."""
    lines = ssh("ctl", f"grep -F drawbridge-installer {AUDIT} || true").splitlines()
    found = (json.loads(line) for line in lines)
    return [it for it in found if it["user"]["username"] == USER]


def refused(found: Iterable[Json] | None = None) -> list[str]:
    """Requests that the rights did not allow: by RBAC, to act as another user, or by its check of who grants rights.

    The policies and the quota refuse a trial, which is no matter of rights.
    """
    return [
        f"{it['verb']} {it['requestURI']}"
        for it in (events() if found is None else found)
        if it.get("annotations", {}).get("authorization.k8s.io/decision") != "allow"
        or NOT_HELD in it["responseStatus"].get("message", "")
    ]


def unused(granted: Iterable[Grant], found: Iterable[Json] | None = None) -> list[Right]:
    """Rights that no request has used. One on all objects, or in all namespaces, is used by a request for one."""
    used = {right for event in (events() if found is None else found) for right in rights(event)}
    return [right for grant in granted for right in grant.rights() if not any(_is(it, right) for it in used)]


def _is(request: Right, right: Right) -> bool:
    return (
        (request.group, request.resource, request.verb) == (right.group, right.resource, right.verb)
        and right.name in ("", request.name)
        and right.namespace in ("", request.namespace)
    )


def rights(event: Json) -> Iterable[Right]:
    """The rights that a request has needed. An apply that created something needed two, one that grants rights more."""
    at = event.get("objectRef")
    if not at:
        return
    resource = "/".join(filter(None, [at["resource"], at.get("subresource")]))
    place = (at.get("namespace", ""), at.get("apiGroup", ""))
    name, verb = at.get("name", ""), event["verb"]
    # the audit log calls a namespace's own name its namespace, too
    place = ("", place[1]) if resource == "namespaces" else place
    yield Right(*place, resource, name, verb)
    if verb == "patch" and event["responseStatus"].get("code") == CREATED:
        yield Right(*place, resource, name, "create")
    if verb not in ("patch", "create", "update"):
        return
    sent = event.get("requestObject") or {}
    if place[1] == RBAC and resource in ("roles", "clusterroles"):
        yield Right(*place, resource, name, "escalate")
    if role := sent.get("roleRef"):
        bound = "roles" if role["kind"] == "Role" else "clusterroles"
        yield Right(place[0] if bound == "roles" else "", RBAC, bound, role["name"], "bind")
    if resource == "certificatesigningrequests/approval":
        yield Right("", place[1], "signers", sent["spec"]["signerName"], "approve")
