# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.projects.accounts import project_accounts
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import (
    bindings,
    gate_objects,
    namespaces,
    objects,
    project_objects,
    with_mounts,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.installer_view import kube_installer
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.projects_kube_view import (
    NO_LIMIT,
    REQUEST,
    allowed,
    volumes,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.kinds import shared

from tests.unit.module_utils.lab import GPFS, KUBE, NODES, SLURM

Json = dict[str, Any]

ATLAS = {
    "name": "atlas",
    "partitions": ["ai-train"],
    "groups": ["people"],
    "directory": {"quota_gib": 500},
    "claims": [{"name": "scratch"}, {"name": "results", "read_only": True}],
    "data": ["imagenet"],
}
SITE = {"filesystem": "/gpfs/fs1", "data": [{"name": "imagenet", "path": "/gpfs/fs1/data/imagenet"}]}


def site(*projects: Json, **change: Any) -> tuple[Any, Any]:
    """Slurm and projects, as views get them."""
    found = part("projects", {**SITE, **change, "projects": list(projects)})
    return project_accounts(SLURM, found), found


def kinds(items: list[Json], kind: str) -> dict[str, Json]:
    return {it["metadata"]["name"]: it for it in items if it["kind"] == kind}


def said(*projects: Json, **change: Any) -> dict[str, Json]:
    slurm, found = site(*projects, **change)
    return {it["metadata"]["name"]: it["metadata"] for it in namespaces(slurm, found)}


def data(*projects: Json, **change: Any) -> dict[str, str]:
    return allowed(*site(*projects, **change))["data"]


def test_a_claim_is_the_directory_and_stays_when_it_is_deleted() -> None:
    items = volumes(*site(ATLAS))
    volume = kinds(items, "PersistentVolume")["drawbridge-atlas.scratch"]["spec"]
    assert volume["hostPath"] == {"path": "/gpfs/fs1/projects/atlas", "type": "Directory"}
    assert (volume["capacity"], volume["persistentVolumeReclaimPolicy"]) == ({"storage": "500Gi"}, "Retain")
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("atlas", "scratch")
    claim = kinds(items, "PersistentVolumeClaim")["scratch"]["spec"]
    assert claim["volumeName"] == "drawbridge-atlas.scratch"
    assert claim["resources"] == {"requests": {"storage": REQUEST}}, "a quota that changes changes no claim"
    assert claim["accessModes"] == volume["accessModes"] == ["ReadWriteMany"]
    assert claim["storageClassName"] == volume["storageClassName"] == "drawbridge-static"


def test_data_sets_are_only_read() -> None:
    volume = kinds(volumes(*site(ATLAS)), "PersistentVolume")["drawbridge-atlas.imagenet"]["spec"]
    assert volume["hostPath"]["path"] == "/gpfs/fs1/data/imagenet"
    assert (volume["accessModes"], volume["capacity"]) == (["ReadOnlyMany"], {"storage": NO_LIMIT})


def test_each_object_says_whose_it_is() -> None:
    assert {it["metadata"]["labels"]["drawbridge.io/project"] for it in volumes(*site(ATLAS))} == {"atlas"}


def test_volumes_of_two_projects_never_have_one_name() -> None:
    """Namespaces and claims have dashes, too."""
    first = {**ATLAS, "name": "a", "claims": [{"name": "b-c"}], "data": []}
    second = {**ATLAS, "name": "a-b", "claims": [{"name": "c"}], "data": []}
    assert len(kinds(volumes(*site(first, second)), "PersistentVolume")) == 2


@pytest.mark.parametrize("state", ["closed", "archived", "removed"])
def test_a_project_that_is_not_open_has_no_claims(state: str) -> None:
    slurm, found = site({**ATLAS, "state": state})
    assert volumes(slurm, found) == []
    spaces = {it["metadata"]["name"]: it["metadata"]["annotations"] for it in namespaces(slurm, found)}
    assert ("atlas" in spaces) == (state == "closed")
    assert spaces.get("atlas", {}).get("drawbridge.io/claims", "") == ""


def test_a_namespace_says_what_its_pods_may_have() -> None:
    found = said({**ATLAS, "mounts": ["/gpfs/fs1/shared"]}, images={"allow": ["nvcr.io/nvidia"], "digests_only": True})
    assert found["atlas"]["labels"] == {"drawbridge.io/gated": "true", "drawbridge.io/project": "atlas"}
    assert {key.partition("/")[2]: it for key, it in found["atlas"]["annotations"].items()} == {
        "host-paths": "/gpfs/fs1/shared,/gpfs/fs1/projects/atlas",
        "claims": "scratch,results,imagenet",
        "read-only-claims": "results,imagenet",
        "images": "nvcr.io/nvidia",
        "digests-only": "true",
        "max-pods": "440",
    }
    assert set(found["vision"]["annotations"]) == {"drawbridge.io/max-pods"}


def test_a_project_without_directory_mounts_nothing() -> None:
    found = said({**ATLAS, "directory": None, "claims": [], "data": []})
    assert found["atlas"]["annotations"]["drawbridge.io/host-paths"] == ""


def test_a_project_has_images_of_its_own() -> None:
    project = {**ATLAS, "images": {"allow": ["quay.io/team"]}}
    found = said(project, images={"allow": ["nvcr.io"], "digests_only": True})["atlas"]["annotations"]
    assert (found["drawbridge.io/images"], found["drawbridge.io/digests-only"]) == ("quay.io/team", "false")


def test_a_run_binds_the_gate_in_namespaces_of_projects_and_an_administrator_in_others() -> None:
    slurm, found = site(ATLAS)
    own = [it for it in project_objects(slurm, found) if it["kind"] == "RoleBinding"]
    assert {it["metadata"]["namespace"] for it in own} == {"atlas"} and len(own) == 3
    others = {it["metadata"]["namespace"] for it in bindings(slurm, found)}
    assert others == {"vision", "speech", "chem"}
    assert {it["metadata"]["name"] for it in with_mounts(slurm, shared({"gpfs": GPFS}), found)} == others


def test_the_quota_counts_claims_of_a_project() -> None:
    slurm, found = site(ATLAS)
    items = [*objects(slurm, None, found), *project_objects(slurm, found)]
    quotas = {it["metadata"]["namespace"]: it["spec"]["hard"] for it in items if it["kind"] == "ResourceQuota"}
    assert quotas["atlas"]["persistentvolumeclaims"] == "3"
    assert "persistentvolumeclaims" not in quotas["vision"]


def test_a_new_project_changes_nothing_that_an_administrator_applies() -> None:
    """Neither rights nor policies nor what projects are allowed."""
    new = {**ATLAS, "name": "new_one", "images": {"allow": ["nvcr.io/nvidia"]}}
    before, after = (
        kube_installer(NODES, slurm, {"gpfs": GPFS}, KUBE, None, found)
        for slurm, found in (site(ATLAS), site(ATLAS, new))
    )
    assert before == after


def test_what_an_administrator_allows() -> None:
    odd = {
        **ATLAS,
        "name": "odd",
        "namespace": "own",
        "directory": {"folder": "special/odd"},
        "mounts": ["/gpfs/fs1/shared"],
    }
    assert data(ATLAS, odd) == {
        "roots": "/gpfs/fs1/projects",
        "mounts": "/gpfs/fs1/shared",
        "namespaces": "chem,speech,vision",
        "data.imagenet": "/gpfs/fs1/data/imagenet",
        "directory.odd": "/gpfs/fs1/special/odd",
        "namespace.odd": "own",
    }


@pytest.mark.parametrize("state", ["closed", "archived", "removed"])
def test_the_end_of_a_project_changes_nothing_that_an_administrator_applies(state: str) -> None:
    """Else no run could close it before an administrator came."""
    odd = {**ATLAS, "namespace": "own", "directory": {"folder": "special/odd"}, "mounts": ["/gpfs/fs1/shared"]}
    assert data({**odd, "state": state}) == data(odd)


def test_a_project_is_closed_on_the_day_after_its_last_one() -> None:
    slurm, found = site({**ATLAS, "ends": "2027-03-31"})
    for today, claims in (("2027-03-31", "scratch,results,imagenet"), ("2027-04-01", "")):
        whole = gate_objects(slurm, KUBE, None, found, today)
        [space] = [it for it in whole["namespaces"] if it["metadata"]["name"] == "atlas"]
        assert space["metadata"]["annotations"]["drawbridge.io/claims"] == claims
        assert bool(kinds(whole["projects"], "PersistentVolume")) == bool(claims)


def test_namespaces_of_projects_that_have_ended_are_named() -> None:
    old = {**ATLAS, "name": "old_1", "state": "archived"}
    taken = {**ATLAS, "name": "dry", "namespace": "atlas", "state": "removed"}
    gone = {**ATLAS, "name": "gone", "namespace": "own", "state": "removed"}
    whole = gate_objects(*(site(ATLAS, old, taken, gone)[0], KUBE, None, site(ATLAS, old, taken, gone)[1]))
    assert whole["ended"] == [
        {"namespace": "old-1", "project": "old_1", "removed": False},
        {"namespace": "own", "project": "gone", "removed": True},
    ]


def test_images_are_allowed_once_and_less_of_them_needs_no_one() -> None:
    limits = {"allow": ["nvcr.io", "reg.example/team"], "digests_only": True}
    less = {**ATLAS, "images": {"allow": ["nvcr.io/nvidia"], "digests_only": True}}
    assert data(ATLAS, images=limits)["images"] == data(less, images=limits)["images"] == "nvcr.io,reg.example/team"
    more = {**ATLAS, "images": {"allow": ["quay.io"]}}
    found = data(more, images=limits)
    assert found["images"] == "nvcr.io,quay.io,reg.example/team"
    assert "digests-only" not in found and data(ATLAS, images=limits)["digests-only"] == "true"
    assert "images" not in data(more), "where not all projects are limited, a run could leave the limit out"


def test_a_site_without_projects_has_nothing_of_them() -> None:
    assert "projects" not in gate_objects(SLURM, KUBE, None)
    assert gate_objects(SLURM, KUBE, None)["namespaces"] == namespaces(SLURM)


CLASSED = {
    **ATLAS,
    "storage_classes": [{"name": "fast", "size_gib": 500}, {"name": "slow", "size_gib": 9, "claims": 2}],
}


def test_people_make_claims_of_the_classes_of_their_project_within_its_limits() -> None:
    assert said(CLASSED)["atlas"]["annotations"]["drawbridge.io/storage-classes"] == "fast,slow"
    assert "drawbridge.io/storage-classes" not in said(ATLAS)["atlas"]["annotations"], "closed by default"
    hard = kinds(project_objects(*site(CLASSED)), "ResourceQuota")["drawbridge"]["spec"]["hard"]
    own = {key.partition(".storageclass")[0]: it for key, it in hard.items() if key.endswith("/requests.storage")}
    assert own == {"fast": "500Gi", "slow": "9Gi"}
    assert hard["slow.storageclass.storage.k8s.io/persistentvolumeclaims"] == "2"
    assert hard["persistentvolumeclaims"] == str(3 + 10 + 2), "its own claims cost people none of theirs"


def test_a_closed_project_makes_no_claims() -> None:
    closed = {**CLASSED, "state": "closed"}
    assert said(closed)["atlas"]["annotations"]["drawbridge.io/storage-classes"] == ""
    hard = kinds(project_objects(*site(closed)), "ResourceQuota")["drawbridge"]["spec"]["hard"]
    assert hard["persistentvolumeclaims"] == "0" and not [key for key in hard if "storageclass" in key]


def test_an_administrator_allows_the_classes_of_drivers_once() -> None:
    assert "storage-classes" not in data(ATLAS)
    assert allowed(*site(ATLAS), ["slow", "fast"])["data"]["storage-classes"] == "fast,slow"
