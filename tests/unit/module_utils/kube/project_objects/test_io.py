# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    Outcome,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.project_objects.io import (
    KubeProjects,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.project_objects.plan import (
    plan,
    wanted,
)

from tests.unit.module_utils.kube.project_objects.server import ALL, BINDING, CLAIM, QUOTA, VOLUME, Server

AT = "/api/v1/persistentvolumes/drawbridge-atlas.scratch"
CLAIM_AT = "/api/v1/namespaces/atlas/persistentvolumeclaims/scratch"


def run(server: Server, *manifests: Any, check: bool = False) -> Outcome:
    return converge(KubeProjects(server, [*manifests]), plan, wanted([*manifests]), check=check)


@pytest.fixture
def server() -> Server:
    """All objects as a run has made them."""
    made = Server()
    assert not run(made, *ALL).error
    made.writes.clear()
    return made


def test_a_second_run_reads_only(server: Server) -> None:
    """The API server writes quantities in its own way."""
    found = run(server, *ALL)
    assert (found.changed, found.steps, server.writes) == (False, [], [])


def test_volumes_come_before_their_claims() -> None:
    server = Server()
    assert run(server, *ALL).steps == [
        "make ResourceQuota atlas/drawbridge",
        "make RoleBinding atlas/drawbridge-node",
        "make PersistentVolume drawbridge-atlas.scratch",
        "make PersistentVolumeClaim atlas/scratch",
    ]
    assert server.writes[-2:] == [f"APPLY {AT}", f"APPLY {CLAIM_AT}"]


def test_check_mode_predicts_and_writes_nothing() -> None:
    server = Server()
    predicted = run(server, *ALL, check=True)
    assert (server.writes, predicted.changed) == ([], True)
    assert predicted.steps == run(server, *ALL).steps


def test_what_left_the_intent_is_deleted_claims_first(server: Server) -> None:
    found = run(server, QUOTA, BINDING)
    assert server.writes == [f"DELETE {CLAIM_AT}", f"DELETE {AT}"]
    assert all("its data stays" in step for step in found.steps)
    assert run(server, QUOTA, BINDING).changed is False


def test_a_claim_that_pods_mount_ends_later(server: Server) -> None:
    server.used = (AT, CLAIM_AT)
    first = run(server, QUOTA, BINDING)
    assert (first.changed, first.error) == (True, "")
    second = run(server, QUOTA, BINDING)
    assert (second.changed, len(second.pending)) == (False, 2)
    assert second.pending[0].startswith("end of PersistentVolumeClaim atlas/scratch: pods still mount it")


def test_a_claim_that_comes_back_while_it_ends_is_pending(server: Server) -> None:
    server.used = (CLAIM_AT,)
    run(server, QUOTA, BINDING, VOLUME)
    found = run(server, *ALL)
    assert (found.changed, len(found.pending), found.error) == (False, 1, "")


def test_a_quota_changes_the_volume_alone(server: Server) -> None:
    more = copy.deepcopy(VOLUME)
    more["spec"]["capacity"]["storage"] = "4096Gi"
    found = run(server, QUOTA, BINDING, more, CLAIM)
    about = "spec.capacity.storage of PersistentVolume drawbridge-atlas.scratch"
    assert found.steps == [f"change {about} from 2Ti to 4096Gi"]
    assert server.writes == [f"APPLY {AT}"]


def test_another_subject_of_a_binding_is_taken_away(server: Server) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/atlas/rolebindings/drawbridge-node"
    server.items[path]["subjects"].append({"kind": "User", "name": "mallory"})
    found = run(server, *ALL)
    assert found.steps == ["change subjects of RoleBinding atlas/drawbridge-node from nothing to the intent"]
    assert len(server.items[path]["subjects"]) == 1


def test_another_directory_of_a_volume_is_refused(server: Server) -> None:
    other = copy.deepcopy(VOLUME)
    other["spec"]["hostPath"]["path"] = "/gpfs/fs2/projects/atlas"
    found = run(server, QUOTA, BINDING, other, CLAIM)
    assert server.writes == []
    assert "spec.hostPath.path: /gpfs/fs1/projects/atlas, and Kubernetes lets no one change it" in found.error
    assert "state: closed" in found.error


def test_a_volume_whose_claim_was_deleted_is_freed(server: Server) -> None:
    server.items[AT]["spec"]["claimRef"]["uid"] = "old"
    server.items[AT]["status"] = {"phase": "Released"}
    del server.items[CLAIM_AT]
    found = run(server, *ALL)
    assert found.steps[0] == "free PersistentVolume drawbridge-atlas.scratch for a new claim: the old one was deleted"
    assert server.writes == [f"PATCH {AT}", f"APPLY {CLAIM_AT}"]
    assert not found.error


def test_a_refusal_is_reported_with_the_object() -> None:
    server = Server()
    server.deaf = True
    found = run(server, VOLUME)
    assert found.error == "PersistentVolume drawbridge-atlas.scratch: denied by drawbridge-volumes"


def test_a_list_that_may_not_be_read_is_an_error() -> None:
    with pytest.raises(DeviceError, match="/api/v1/persistentvolumes can't be read: forbidden"):
        KubeProjects(lambda *_: (403, {"message": "forbidden"}), []).read()


def test_quotas_and_bindings_stay_with_their_namespace(server: Server) -> None:
    run(server)
    assert sorted(it["metadata"]["name"] for it in server.items.values()) == ["drawbridge", "drawbridge-node"]


SPACE_AT = "/api/v1/namespaces/atlas"
POD_AT = f"{SPACE_AT}/pods/p1"
ENDED = {"namespace": "atlas", "project": "atlas", "removed": False}


def end(server: Server, check: bool = False, **more: Any) -> Outcome:
    return converge(KubeProjects(server, [], [{**ENDED, **more}]), plan, wanted([]), check=check)


@pytest.fixture
def left(server: Server) -> Server:
    """The project has ended; its namespace still says what pods may have."""
    given = {"drawbridge.io/host-paths": "/gpfs/fs1/projects/atlas", "drawbridge.io/claims": "scratch", "own": "x"}
    labels = {"drawbridge.io/project": "atlas"}
    server.items[SPACE_AT] = {"metadata": {"name": "atlas", "labels": labels, "annotations": given}}
    return server


def test_the_namespace_of_a_project_that_has_ended_is_closed_and_stays(left: Server) -> None:
    predicted, done = end(left, check=True), end(left)
    assert predicted.steps == done.steps and done.steps[0] == "close Namespace atlas: its project has ended"
    about = left.items[SPACE_AT]["metadata"]["annotations"]
    assert about["own"] == "x" and not any(value for key, value in about.items() if key != "own")
    again = end(left)
    assert (again.changed, again.pending) == (False, [])


def test_the_namespace_of_a_removed_project_is_left_to_an_administrator(left: Server) -> None:
    """A run may not delete one: whoever may do that may end all that runs in one."""
    left.items[POD_AT] = {"metadata": {"name": "p1"}}
    assert "pod p1 is in it" in end(left, removed=True).pending[-1]
    del left.items[POD_AT]
    left.items["/api/v1/namespaces/atlas/persistentvolumeclaims/own"] = {"metadata": {"name": "own"}}
    assert "persistentvolumeclaim own is in it" in end(left, removed=True).pending[-1]
    del left.items["/api/v1/namespaces/atlas/persistentvolumeclaims/own"]
    [waits] = end(left, removed=True).pending
    assert "an administrator runs kubectl delete namespace atlas" in waits
    assert not any(line.partition(" ")[2] == SPACE_AT for line in left.writes if line.startswith("DELETE"))
    del left.items[SPACE_AT]
    assert end(left, removed=True).pending == []


def test_a_namespace_that_no_label_gives_to_the_project_is_left_alone(left: Server) -> None:
    left.items[SPACE_AT]["metadata"]["labels"]["drawbridge.io/project"] = "boreas"
    found = end(left, removed=True)
    assert not [step for step in [*found.steps, *found.pending] if "Namespace" in step]
