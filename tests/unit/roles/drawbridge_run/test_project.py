# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Claims and images of projects, in the words of the gate's policies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from roles.drawbridge_run.files.gate.api import Answer
from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run.pod import Request, template
from roles.drawbridge_run.files.run.project import require_image
from roles.drawbridge_run.files.run.run import with_project
from roles.drawbridge_run.files.run.site import Grant, Site
from tests.unit.roles.drawbridge_run.job import SITE, request, site, write_site

if TYPE_CHECKING:
    from roles.drawbridge_run.files.run.context import Context

CLAIMS = {"vision": {"scratch": False, "results": True}}
LIMITS = {"vision": {"allow": ["nvcr.io/nvidia", "reg.example"], "digests_only": False}}
DIGEST = f"@sha256:{'0' * 64}"


def of_project(root: Path, line: str, **limits: Any) -> Request:
    return replace(request(root, line), site=site(claims=CLAIMS, **limits))


def spec(root: Path, line: str, **limits: Any) -> dict[str, Any]:
    return template(of_project(root, line, **limits))["spec"]


def test_claims_are_mounted_beside_the_file_systems(tmp_path: Path) -> None:
    found = spec(tmp_path, "--image img --claim scratch --claim results -- true")
    sources = {it["name"]: it.get("persistentVolumeClaim") for it in found["volumes"]}
    assert sources["claim0"] == {"claimName": "scratch"}
    assert sources["claim1"] == {"claimName": "results", "readOnly": True}
    mounts = {it["mountPath"]: it for it in found["containers"][0]["volumeMounts"]}
    assert mounts["/claims/scratch"] == {"name": "claim0", "mountPath": "/claims/scratch"}
    assert mounts["/claims/results"] == {"name": "claim1", "mountPath": "/claims/results", "readOnly": True}
    assert {"/gpfs/fs1", "/gpfs/fs2", "/dev/shm"} <= set(mounts)


def test_people_mount_claims_of_their_own_where_the_project_has_storage_classes(tmp_path: Path) -> None:
    line = "--image img --claim results --claim mine -- true"
    found = spec(tmp_path, line, classes={"vision": ["fast"]})
    sources = [it["persistentVolumeClaim"] for it in found["volumes"] if "persistentVolumeClaim" in it]
    assert sources == [{"claimName": "results", "readOnly": True}, {"claimName": "mine"}]
    with pytest.raises(Refused, match="--claim mine: the project has no such claim"):
        spec(tmp_path, line, classes={"vision": [], "other": ["fast"]})


def test_without_the_option_no_claim_is_mounted(tmp_path: Path) -> None:
    found = spec(tmp_path, "--image img -- true")
    assert not [it for it in found["volumes"] if "persistentVolumeClaim" in it]
    assert found == template(request(tmp_path))["spec"] | {"containers": found["containers"]}


def test_a_claim_named_twice_is_mounted_once(tmp_path: Path) -> None:
    found = spec(tmp_path, "--image img --claim scratch --claim scratch -- true")
    assert [it["name"] for it in found["volumes"] if "persistentVolumeClaim" in it] == ["claim0"]


def test_a_command_starts_in_a_claim(tmp_path: Path) -> None:
    asked = of_project(tmp_path, "--image img --mount /gpfs/fs2 --claim scratch -- true")
    container = template(replace(asked, user=replace(asked.user, cwd="/claims/scratch/a")))["spec"]["containers"][0]
    assert {"name": "DRAWBRIDGE_WORKDIR", "value": "/claims/scratch/a"} in container["env"]


@pytest.mark.parametrize(("claims", "have"), [(CLAIMS, "scratch, results \\(read only\\)"), ({}, "none")])
def test_a_wrong_claim_is_refused_with_those_of_the_project(tmp_path: Path, claims: Any, have: str) -> None:
    asked = replace(request(tmp_path, "--image img --claim data -- true"), site=site(claims=claims))
    with pytest.raises(Refused, match=f"--claim data: the project has no such claim; it has: {have}"):
        template(asked)


@pytest.mark.parametrize(
    ("image", "right"),
    [
        ("nvcr.io/nvidia/pytorch:26.07-py3", True),
        ("nvcr.io/nvidia:1", True),
        (f"nvcr.io/nvidia{DIGEST}", True),
        ("nvcr.io/nvidia", True),
        ("reg.example/a/b", True),
        ("nvcr.io/nvidia-evil/pytorch", False),
        ("reg.example.evil.example/a", False),
        ("reg.example:5000/a", False),
        ("reg.example", False),
        (f"reg.example{DIGEST}", False),
        ("alpine", False),
        ("docker.io/library/alpine", False),
        ("evil.example/nvcr.io/nvidia/pytorch", False),
    ],
)
def test_a_prefix_ends_where_a_part_of_the_name_does(tmp_path: Path, image: str, right: bool) -> None:
    if right:
        assert spec(tmp_path, f"--image {image} -- true", images=LIMITS)["containers"][0]["image"] == image
        return
    with pytest.raises(Refused, match=r"images of this namespace begin with nvcr\.io/nvidia or reg\.example: write"):
        spec(tmp_path, f"--image {image} -- true", images=LIMITS)


@pytest.mark.parametrize("image", ["reg.example/a:1", "reg.example/a@sha256:00"])
def test_an_image_names_a_digest_where_all_must(tmp_path: Path, image: str) -> None:
    limits = {"vision": {**LIMITS["vision"], "digests_only": True}}
    assert spec(tmp_path, f"--image reg.example/a{DIGEST} -- true", images=limits)
    with pytest.raises(Refused, match="images of this namespace name a digest"):
        require_image(image, ["reg.example"], True)


def test_a_site_without_projects_limits_nothing(tmp_path: Path) -> None:
    found = Site.read(write_site(tmp_path))
    assert (found.claims, found.images) == ({}, {})
    assert found == Site(**SITE)


ATLAS = {
    "drawbridge.io/host-paths": "/gpfs/fs1/projects/atlas",
    "drawbridge.io/claims": "scratch,results",
    "drawbridge.io/read-only-claims": "results",
    "drawbridge.io/images": "nvcr.io/nvidia,reg.example",
    "drawbridge.io/digests-only": "true",
}


class Namespaces:
    """A context whose API server has one namespace, or none."""

    def __init__(self, annotations: dict[str, str] | None) -> None:
        self.annotations, self.asked = annotations, list[str]()

    def kube(self, grant: Grant) -> Namespaces:
        return self

    def call(self, method: str, path: str) -> Answer:
        self.asked.append(f"{method} {path}")
        if self.annotations is None:
            return Answer(403, {"message": "namespaces is forbidden"})
        return Answer(200, {"metadata": {"annotations": self.annotations}})


def seen(root: Path, context: Namespaces, namespace: str = "atlas") -> Site:
    given = replace(request(root).grant, namespace=namespace)
    return with_project(site(), given, cast("Context", context))


def test_the_namespace_of_a_project_says_what_its_pods_see(tmp_path: Path) -> None:
    context = Namespaces(ATLAS)
    found = seen(tmp_path, context)
    assert context.asked == ["GET /api/v1/namespaces/atlas"]
    assert found.mounts["atlas"] == ["/gpfs/fs1/projects/atlas"] and found.mounts["vision"] == SITE["mounts"]["vision"]
    assert found.claims["atlas"] == {"scratch": False, "results": True}
    assert found.images["atlas"] == {"allow": ["nvcr.io/nvidia", "reg.example"], "digests_only": True}


def test_a_namespace_without_annotations_gives_nothing(tmp_path: Path) -> None:
    found = seen(tmp_path, Namespaces({}))
    assert (found.mounts["atlas"], found.claims["atlas"]) == ([], {})
    assert found.images["atlas"] == {"allow": [], "digests_only": False}


def test_accounts_need_no_question(tmp_path: Path) -> None:
    context = Namespaces(ATLAS)
    assert seen(tmp_path, context, "vision") == site() and context.asked == []


def test_a_namespace_that_can_not_be_read_starts_no_pod(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="namespace atlas can't be read"):
        seen(tmp_path, Namespaces(None))
