# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What other jobs of the same namespace have left: finished pods, and ConfigMaps of its people."""

from __future__ import annotations

import sys

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.states import Owner
from tests.attacks import tables
from tests.attacks.client import KINDS, Client, Json, Who
from tests.attacks.scene import DEPLOYER, GID

COUNT = 10_000
JOB, UID, NAMESPACE = 4711, 2001, "vision"
SPACE = f"/api/v1/namespaces/{NAMESPACE}"


def crowd(client: Client) -> None:
    """Make so many of both, by those who make them. The namespace's quota would stop them sooner."""
    cast = tables.scene()
    opener, job_controller, collector = (
        Who.of(cast["people"][name]) for name in ("opener", "job-controller", "pod-garbage-collector")
    )
    hard = dict.fromkeys(("pods", "count/pods", "count/configmaps"), str(3 * COUNT))
    _done(client, "PATCH", f"{SPACE}/resourcequotas/drawbridge", {"spec": {"hard": hard}}, DEPLOYER)
    account = identity.objects(Owner(NAMESPACE, JOB), identity.name(JOB, UID, GID), ())[0][1]
    _done(client, "POST", f"{SPACE}/serviceaccounts", account, opener)
    pod = cast["things"]["pod"]["body"]
    for number in range(COUNT):
        name = f"slurm-{JOB}-r0-train-{number}"
        body = {**pod, "metadata": {**pod["metadata"], "name": name}}
        _done(client, "POST", f"{SPACE}/pods", body, job_controller)
        _done(client, "PATCH", f"{SPACE}/pods/{name}/status", {"status": {"phase": "Succeeded"}}, collector)
        _done(client, "POST", f"{SPACE}/configmaps", {"metadata": {"name": f"left-{number}"}, "data": {"a": "b"}})


def _done(client: Client, method: str, path: str, body: Json, who: Who | None = None) -> None:
    answer = client.ask(method, path, body, who, KINDS["merge"] if method == "PATCH" else "")
    if answer.status >= 300:
        sys.exit(f"{method} {path}: {answer.message}")
