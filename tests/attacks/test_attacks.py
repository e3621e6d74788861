# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything that must be refused, by its guard and for its reason; everything that must not. On a real API server."""

from __future__ import annotations

import json
import re

import pytest

from roles.slurm_gate.files.gate.opener import FORBIDDEN
from tests.attacks.client import KINDS, Client, Json, path_of
from tests.attacks.manifests import rendered
from tests.attacks.scene import Scene, judged, refused_by
from tests.attacks.tables import attacks, permits

pytestmark = pytest.mark.live


def test_kubernetes_finds_no_fault_in_the_policies_types(client: Client, scene: Scene) -> None:
    """Strict validation was asked for when they were written; this is what the controllers found in their CEL."""
    found = judged(client)
    assert found and all(name.startswith("drawbridge-") for name in found)
    assert not {name: warnings for name, warnings in found.items() if warnings}


@pytest.mark.parametrize("body", rendered(), ids=lambda body: f"{body['kind']}-{body['metadata']['name']}")
def test_an_apply_of_what_is_there_changes_nothing(client: Client, scene: Scene, body: Json) -> None:
    """Not even who wrote what, and when: a field that the API server fills in moves that, and looks like a change."""
    before = client.ask("GET", path_of(body)).body
    assert client.apply(path_of(body), body, dry=True) == before


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


@pytest.mark.parametrize("annotations", [{}, {"example.org/rack": "r1"}], ids=len)
@pytest.mark.parametrize("policy", FORBIDDEN)
def test_the_openers_self_test_is_refused_on_any_node(scene: Scene, policy: str, annotations: dict[str, str]) -> None:
    """A kubelet writes annotations some time after it has made its Node: a self-test must not need them."""
    path = "/api/v1/nodes/gpu01"
    before = scene.client.ask("GET", path).body["metadata"].get("annotations", {})
    assert not before, "the stage's nodes have none, or the case without is not tried"
    scene.client.ask("PATCH", path, {"metadata": {"annotations": annotations}}, kind=KINDS["merge"])
    try:
        asked = (f"{path}?dryRun=All", FORBIDDEN[policy], scene.people["opener"], KINDS["json"])
        answer = scene.client.ask("PATCH", *asked)
        assert f"'{policy}'" in answer.message, f"{answer.status}: {answer.message}"
    finally:
        scene.client.ask("PATCH", path, {"metadata": {"annotations": None}}, kind=KINDS["merge"])
