# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole driver on an API server in memory. Its operator works, lies, stops, or finds the password wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.gpfs_csi import made, passwords, without
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.names import (
    DRIVER_NODES,
    DRIVER_SIDECARS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.objects import (
    OPERATOR,
    PLACES,
)

from tests.unit.module_utils.storage.gpfs.csi.server import (
    CREDENTIALS,
    CSI,
    PASSWORD,
    RESOURCES,
    Json,
    Server,
    view,
    written,
)

Run = Callable[..., Json]
MADE_BY_THE_OPERATOR = {PLACES["DaemonSet"], PLACES["Deployment"]}
"""A real one removes them with its resource."""
CLASS = f"{PLACES['StorageClass']}/scratch"
OTHER: Json = {"cluster": {**CREDENTIALS["cluster"], "password": "battery staple"}}
EVERY = ("infra1", "infra2", "gpu01")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the action with an intent."""

    def runs(server: Server, csi: Json | None = CSI, check: bool = False, **change: Any) -> Json:
        found = view(csi)
        args = {
            **{
                key: found.get(key, empty)
                for key, empty in (("state", ""), ("objects", []), ("resource", {}), ("infra", []))
            },
            **(written(tmp_path) if csi else {}),
            **{"credentials": CREDENTIALS, "mounted": [*EVERY], "adopt": False, "timeout_s": 0},
            **{"variables": {"adopt": "gpfs_csi_adopt", "credentials": "gpfs_csi_credentials"}, **change},
        }
        return made(server, args, check)

    return runs


def test_the_driver_runs_as_predicted_and_a_second_run_only_reads(run: Run) -> None:
    server = Server()
    predicted = run(server, check=True)
    assert predicted["changed"] and not server.writes
    done = run(server)
    assert (done["failed"], done["steps"], done["warnings"]) == (False, predicted["steps"], [])
    assert server.nodes(DRIVER_NODES) == [*EVERY] and server.nodes(DRIVER_SIDECARS) == ["infra1", "infra2"]
    assert server.secret("drawbridge-cluster-a") == CREDENTIALS["cluster"]
    server.writes.clear()
    again = run(server)
    assert (again["changed"], again["failed"], server.writes) == (False, False, [])
    assert run(server, check=True)["steps"] == []


def test_no_password_is_in_a_result(run: Run) -> None:
    results = [run(server := Server(), check=True), run(server), run(server, credentials=OTHER)]
    assert not any(word in str(results) for word in (PASSWORD, "battery", "Y29ycmVjdCBob3JzZQ"))
    found = without({"msg": [f"refused {PASSWORD}"], "changed": True}, passwords(CREDENTIALS))
    assert found == {"msg": ["refused ********"], "changed": True}


def test_a_new_password_is_tried_in_another_secret_which_restarts_the_driver(run: Run) -> None:
    server = Server()
    run(server)
    server.password = "battery staple"  # because it is a test's
    done = run(server, credentials=OTHER)
    assert not done["failed"], done
    assert server.items[RESOURCES]["spec"]["clusters"][0]["secrets"] == "drawbridge-cluster-b"
    assert f"{PLACES['Secret']}/drawbridge-cluster-a" not in server.items
    assert run(server, credentials=OTHER)["changed"] is False
    server.password = PASSWORD
    assert not run(server)["failed"]
    assert server.items[RESOURCES]["spec"]["clusters"][0]["secrets"] == "drawbridge-cluster-a"


def test_a_run_that_ended_between_secret_and_resource_goes_on(run: Run) -> None:
    server = Server()
    run(server)
    before = copy.deepcopy(server.items[RESOURCES])
    server.password = "battery staple"  # because it is a test's
    run(server, credentials=OTHER)
    server.items[RESOURCES] = before
    server.items[f"{PLACES['Secret']}/drawbridge-cluster-a"] = {
        **server.items[f"{PLACES['Secret']}/drawbridge-cluster-b"],
        "data": {"username": "eA==", "password": "eA=="},
    }
    assert not run(server, credentials=OTHER)["failed"]
    assert server.items[RESOURCES]["spec"]["clusters"][0]["secrets"] == "drawbridge-cluster-b"


def test_a_wrong_password_is_reported_in_words(run: Run) -> None:
    server = Server()
    server.password = "another"  # because it is a test's
    failed = run(server)
    assert failed["failed"] and "401: Unauthorized" in failed["msg"] and "gpfs_csi_credentials" in failed["msg"]
    check = run(server, check=True)
    assert not check["failed"] and "401" in check["warnings"][0], "check mode warns"


@pytest.mark.parametrize(
    ("mood", "saying"),
    [
        ("lies", "reports success, but DaemonSet ibm-spectrum-scale-csi does not exist"),
        ("absent", "no pod of Deployment ibm-spectrum-scale-csi-operator is ready"),
        ("stuck", "says nothing about ibm-spectrum-scale-csi yet"),
    ],
)
def test_the_operators_word_is_no_proof(run: Run, mood: str, saying: str) -> None:
    server = Server()
    server.mood = mood
    failed = run(server)
    assert failed["failed"] and saying in failed["msg"]


def test_an_old_word_is_not_taken_for_the_new_settings(run: Run) -> None:
    server = Server()
    run(server)
    server.mood = "stuck"
    failed = run(server, credentials=OTHER)
    assert failed["failed"] and "does not mount drawbridge-cluster-b" in failed["msg"]


def test_nodes_get_the_driver_and_lose_it_with_their_mounts(run: Run) -> None:
    server = Server()
    run(server)
    done = run(server, mounted=["infra1", "infra2"])
    assert done["steps"] == ["take the driver off gpu01: it does not mount all file systems"]
    assert server.items["/api/v1/nodes/gpu01"]["metadata"]["labels"] == {"zone": "a"}


def test_sidecars_need_two_infra_nodes_with_mounts(run: Run) -> None:
    with pytest.raises(DeviceError, match=r"need 2 infra nodes .* and infra1 mounts them. Mount them on infra2"):
        run(Server(), mounted=["infra1", "gpu01"])


@pytest.mark.parametrize("credentials", [{}, {"cluster": {"username": "csiadmin"}}, {"cluster": {"password": ""}}])
def test_without_credentials_the_variable_is_named(run: Run, credentials: Json) -> None:
    server = Server()
    with pytest.raises(DeviceError, match=r"gpfs_csi_credentials.cluster has no .*password.* ansible-vault"):
        run(server, credentials=credentials)
    assert not server.writes


def test_parameters_of_a_class_are_refused_with_the_repair(run: Run) -> None:
    server = Server()
    run(server)
    server.writes.clear()
    other = {**CSI, "classes": [{**CSI["classes"][0], "gid": 3002}]}
    failed = run(server, other)
    assert failed["failed"] and "gid: 3001" in failed["msg"] and "kubectl delete storageclass scratch" in failed["msg"]
    assert not server.writes


def test_a_class_that_left_the_intent_is_deleted(run: Run) -> None:
    server = Server()
    run(server, {**CSI, "classes": [*CSI["classes"], {"name": "old", "filesystem": "fs1", "gid": 3001}]})
    assert run(server)["steps"] == ["delete StorageClass old"] and CLASS in server.items


def test_what_others_have_made_is_changed_only_with_consent(run: Run) -> None:
    server = Server()
    run(server)
    del server.items[CLASS]["metadata"]["labels"]
    failed = run(server)
    assert failed["failed"] and "did not make StorageClass scratch" in failed["msg"]
    assert failed["msg"].endswith("gpfs_csi_adopt: true")
    assert not run(server, adopt=True)["failed"]


def test_without_the_part_all_goes_while_no_volume_needs_the_driver(run: Run) -> None:
    server = Server()
    run(server)
    server.items["/api/v1/persistentvolumes/pvc-1"] = {
        "metadata": {"name": "pvc-1"},
        "spec": {"csi": {"driver": "spectrumscale.csi.ibm.com"}},
    }
    refused = run(server, None)
    assert refused["failed"] and "1 volumes need the driver (pvc-1)" in refused["msg"]
    assert CLASS in server.items
    del server.items["/api/v1/persistentvolumes/pvc-1"]
    predicted = run(server, None, check=True)
    done = run(server, None)
    assert not done["failed"] and done["steps"] == predicted["steps"]
    assert not server.nodes(DRIVER_NODES) and f"{PLACES['Deployment']}/{OPERATOR}" not in server.items
    assert run(server, None)["changed"] is False


def test_a_driver_of_others_stays(run: Run) -> None:
    server = Server()
    run(server)
    for item in server.items.values():
        item["metadata"].get("labels", {}).pop("drawbridge.io/part", None)
        if item["metadata"]["name"] in EVERY:
            item["metadata"]["labels"] = {}
    before = copy.deepcopy(server.items)
    assert run(server, None)["changed"] is False and server.items == before


def test_a_site_that_never_had_the_driver_has_no_rights_and_needs_none(run: Run) -> None:
    server = Server()
    server.forbidden = (*PLACES.values(), "/api/v1/persistentvolumes")
    assert run(server, None) == {"changed": False, "steps": [], "pending": [], "failed": False, "warnings": []}


class Mortal(Server):
    """A server to which a run can write only so many times."""

    left = 0

    def __call__(self, method: str, path: str, body: Json | None) -> tuple[int, Json]:
        if method != "GET" and "dryRun" not in path:
            self.left -= 1
        return (500, {"message": "died"}) if self.left < 0 else super().__call__(method, path, body)


@pytest.mark.parametrize("after", range(15))
def test_a_run_that_dies_is_finished_by_the_next(run: Run, after: int) -> None:
    server = Mortal()
    for csi in (CSI, None):
        server.left = after
        run(server, csi)
        server.left = 100
        assert not run(server, csi)["failed"] and run(server, csi)["changed"] is False
    assert {it.rpartition("/")[0] for it in server.items} == {"/api/v1/nodes"} | MADE_BY_THE_OPERATOR
