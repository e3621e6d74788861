# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The driver of Storage Scale on a real API server, with the rights of a run and the gate's policies.

IBM's operator is played: a lab has no way to its images. The kind is the one that the table of releases describes. If
SCALE_MANIFESTS names a folder with IBM's own manifests, RELEASE.yaml each, the kinds in these are tested as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.gpfs_csi import made
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import connect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.names import DRIVER_NODES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.objects import (
    KIND,
    PLACES,
    RESOURCE,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.releases import RELEASES

from lab.hosts.paths import Paths
from tests.administrator import administrator
from tests.attacks.client import Client, Json
from tests.attacks.conftest import control_plane, stage
from tests.attacks.scene import CLASSES, Scene, refused_by
from tests.scale_operator import ScaleOperator
from tests.unit.module_utils.storage.gpfs.csi.server import CREDENTIALS, CSI, PASSWORD, view, written

pytestmark = pytest.mark.live

NODES = ("gpu01", "gpu02")
WANTED: Json = {**CSI, "classes": [{"name": name, "filesystem": "fs1", "gid": 3001} for name in CLASSES]}
OTHER: Json = {"cluster": {**CREDENTIALS["cluster"], "password": "battery staple"}}
Run = Callable[..., Json]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A lab of this file's own: others in this folder boot theirs."""
    yield from control_plane(tmp_path_factory.mktemp("admin"))


@pytest.fixture(scope="module")
def scene(client: Client) -> Scene:
    """The stage of the attacks."""
    return stage(client)


@pytest.fixture(scope="module")
def operator(scene: Scene) -> Iterator[ScaleOperator]:
    """IBM's operator beside the run."""
    with ScaleOperator(administrator(), PASSWORD) as found:
        yield found


@pytest.fixture
def run(operator: ScaleOperator, tmp_path: Path) -> Run:
    """Run the module as the installer."""

    def runs(csi: Json | None = WANTED, check: bool = False, **change: Any) -> Json:
        found = view(csi)
        own = {key: found.get(key, empty) for key, empty in (("state", ""), ("objects", []), ("resource", {}))}
        args = {
            **own,
            **(written(tmp_path) if csi else {}),
            **{"infra": [*NODES], "mounted": [*NODES], "credentials": CREDENTIALS, "adopt": False, "timeout_s": 8},
            **{"variables": {"credentials": "gpfs_csi_credentials"}, **change},
        }
        return made(connect(str(Paths.of().installer_kubeconfig)), args, check)

    return runs


def secret_in_use(client: Client) -> str:
    return client.ask("GET", f"{PLACES[KIND]}/{RESOURCE}").body["spec"]["clusters"][0]["secrets"]


def test_the_driver_is_installed_as_predicted_and_a_second_run_only_reads(run: Run, client: Client) -> None:
    predicted = run(check=True)
    done = run()
    assert not done["failed"], done
    assert done["steps"] == predicted["steps"] != []
    again = run()
    assert (again["changed"], again["failed"], again["steps"]) == (False, False, [])
    labels = client.ask("GET", "/api/v1/nodes/gpu01").body["metadata"]["labels"]
    assert labels[DRIVER_NODES] == "true"


def test_a_parameter_that_kubernetes_fixes_is_refused_before_any_change(run: Run) -> None:
    other = {**WANTED, "classes": [{**WANTED["classes"][0], "gid": 3002}, *WANTED["classes"][1:]]}
    failed = run(other)
    assert failed["failed"] and "kubectl delete storageclass fast" in failed["msg"]


def test_a_new_password_goes_into_the_other_secret(run: Run, operator: ScaleOperator, client: Client) -> None:
    before = secret_in_use(client)
    failed = run(credentials=OTHER)
    assert failed["failed"] and "401: Unauthorized" in failed["msg"] and "gpfs_csi_credentials" in failed["msg"]
    operator.password = OTHER["cluster"]["password"]
    assert not run(credentials=OTHER)["failed"]
    assert secret_in_use(client) != before
    assert client.ask("GET", f"{PLACES['Secret']}/{before}").status == 404
    operator.password = PASSWORD
    assert not run()["failed"]


def test_the_operators_word_without_a_driver_is_no_success(run: Run, operator: ScaleOperator, client: Client) -> None:
    operator.mood = "lies"
    client.ask("DELETE", f"{PLACES['DaemonSet']}/{RESOURCE}")
    failed = run()
    operator.mood = "works"
    assert failed["failed"] and f"DaemonSet {RESOURCE} does not exist" in failed["msg"]
    assert not run()["failed"]


@pytest.mark.parametrize(("name", "status"), [("fast", 201), ("gone", 422)])
def test_people_make_claims_of_their_classes_alone(scene: Scene, name: str, status: int) -> None:
    row = {"as": "tenant", "create": "people's claim", "in": "boreas-2", "with": {"spec": {"storageClassName": name}}}
    answer = scene.ask(row)
    assert answer.status == status, answer.message
    assert status == 201 or refused_by(answer, "claims", "of these storage classes")


def test_the_driver_goes_when_the_intent_has_it_no_more(run: Run, client: Client) -> None:
    predicted = run(None, check=True)
    done = run(None)
    assert not done["failed"] and done["steps"] == predicted["steps"] != [], done
    assert client.ask("GET", f"{PLACES[KIND]}/{RESOURCE}").status == 404
    assert run(None)["changed"] is False


@pytest.mark.skipif("SCALE_MANIFESTS" not in os.environ, reason="SCALE_MANIFESTS names no folder")
@pytest.mark.parametrize("release", RELEASES)
def test_ibms_own_manifest_is_applied_and_its_kind_takes_the_resource(run: Run, client: Client, release: str) -> None:
    source = Path(os.environ["SCALE_MANIFESTS"]) / f"{release}.yaml"
    own = {**WANTED, "release": release}
    own_manifest = {"source": str(source), "digest": RELEASES[release].digest}
    done = run(own, **own_manifest)
    assert not done["failed"] and done["steps"], done
    clusters = client.ask("GET", f"{PLACES[KIND]}/{RESOURCE}").body["spec"]["clusters"]
    assert ("primary" in clusters[0]) is RELEASES[release].primary
    assert run(own, **own_manifest)["changed"] is False
    assert not run(None)["failed"]
