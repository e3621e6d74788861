# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything that must be refused, by its guard and for its reason; everything that must not. On a real API server."""

from __future__ import annotations

import json
import re

import pytest

from roles.slurm_gate.files.gate.opener import FIRST, FORBIDDEN
from tests.attacks.client import KINDS, Client, Json, Who, path_of
from tests.attacks.manifests import rendered
from tests.attacks.scene import Scene, meets, refused_by, until
from tests.attacks.schema import KINDS as KINDS_OF_JOBS
from tests.attacks.schema import gaps, spec_of
from tests.attacks.tables import attacks, neighbours, permits
from tests.unit.module_utils.kube.kubelet.test_check import merged

pytestmark = pytest.mark.live
RIGHTS = "/apis/rbac.authorization.k8s.io/v1/namespaces/vision/rolebindings"
TENANT_ACCOUNT = {"kind": "ServiceAccount", "namespace": "vision", "name": "tenant"}


@pytest.mark.parametrize("body", rendered(), ids=lambda body: f"{body['kind']}-{body['metadata']['name']}")
def test_an_apply_of_an_existing_object_changes_nothing(client: Client, scene: Scene, body: Json) -> None:
    """Not even who wrote what, and when: a field that the API server fills in moves that, and looks like a change."""
    before = client.ask("GET", path_of(body)).body
    assert client.apply(path_of(body), body, dry=True) == before


@pytest.mark.parametrize("kind", KINDS_OF_JOBS)
def test_every_field_that_the_server_publishes_is_in_the_closed_list(client: Client, scene: Scene, kind: str) -> None:
    schemas = client.ask("GET", f"/openapi/v3/{KINDS_OF_JOBS[kind]}").body["components"]["schemas"]
    assert list(gaps(kind, spec_of(kind, schemas), schemas)) == []


@pytest.fixture(scope="module")
def release(client: Client) -> int:
    """The API server's minor release."""
    return int(re.sub(r"\D", "", client.ask("GET", "/version").body["minor"]))


@pytest.mark.parametrize("row", attacks(), ids=lambda row: row["id"])
def test_refused(scene: Scene, row: Json, release: int) -> None:
    answer = scene.ask(row)
    if release < row.get("since", 0) and not refused_by(answer, row["guard"]):
        assert '"reference": "x"' not in json.dumps(answer.body), "the server knows the field"
        return
    assert refused_by(answer, row["guard"], row["saying"]), f"{answer.status}: {answer.message}"


@pytest.mark.parametrize("row", permits(), ids=lambda row: row["id"])
def test_let_in(scene: Scene, row: Json) -> None:
    answer = scene.ask(row)
    assert answer.status < 300 or answer.status == row.get("answer"), f"{answer.status}: {answer.message}"


@pytest.mark.parametrize("row", neighbours(), ids=lambda row: f"{row['of']}-{row['id']}")
def test_other_requests_meet_the_same(scene: Scene, row: Json) -> None:
    answers = {way: scene.ask({**row, "way": way}) for way in row["tried"]}
    wrong = {way: it for way, it in answers.items() if not meets(it, row["tried"][way])}
    assert {way: f"{it.status}: {it.message}" for way, it in wrong.items()} == {}


def test_the_openers_self_test_is_refused_on_any_node(scene: Scene) -> None:
    """It needs nothing that a Node may lack."""
    path = "/api/v1/nodes/gpu01?dryRun=All"
    answer = scene.client.ask("PATCH", path, FORBIDDEN, scene.people["opener"], KINDS["json"])
    assert f"'{FIRST}'" in answer.message, f"{answer.status}: {answer.message}"


IMPERSONATED = "system:serviceaccount:vision:slurm-4711-u2001-g3001"


@pytest.mark.parametrize("verb", ["list", "create"])
def test_with_the_role_for_tenants_no_jobs_account_is_impersonated(scene: Scene, verb: str) -> None:
    """By a real token; with the stock role edit, which can't be bound here any more, it made a Job as another user."""
    bound = merged(
        scene.things["tenant binding"]["body"], {"subjects": [TENANT_ACCOUNT], "metadata": {"name": "tenants"}}
    )
    scene.client.apply(f"{RIGHTS}/tenants", bound)
    token = scene.token(Who.of({"account": "vision/tenant"}))
    path = scene.things["job"]["path"]
    until(lambda: scene.client.bear(token, path).status == 200, "the role is in force")
    body = scene.things["job"]["body"] if verb == "create" else None
    answer = scene.client.bear(token, f"{path}?dryRun=All" if body else path, IMPERSONATED, body)
    assert (answer.status, "cannot impersonate" in answer.message) == (403, True), answer.message
