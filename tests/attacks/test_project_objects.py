# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A run makes a project and takes it away, without an administrator. On a real API server, with its policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import connect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.project_objects.io import (
    KubeProjects,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.project_objects.plan import (
    plan,
    wanted,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.projects.accounts import project_accounts
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import (
    namespaces,
    project_objects,
)

from lab.hosts.paths import Paths
from tests.attacks.client import APPLY, Client, Json, path_of
from tests.attacks.projects import PROJECTS, SLURM
from tests.attacks.scene import ADMIN, DEPLOYER, Scene

pytestmark = pytest.mark.live

TAKEN = ("swan", "drawbridge-node")
"""The scene has taken this binding away, for attacks that make it."""


def kept(objects: list[Json]) -> list[Json]:
    return [it for it in objects if (it["metadata"].get("namespace"), it["metadata"]["name"]) != TAKEN]


OLD = kept(project_objects(SLURM, PROJECTS))
NEW_PROJECT = replace(next(it for it in PROJECTS.projects if it.name == "atlas"), name="delta")
WITH_NEW = replace(PROJECTS, projects=(*PROJECTS.projects, NEW_PROJECT))
SLURM_WITH_NEW = project_accounts(SLURM, replace(PROJECTS, projects=(NEW_PROJECT,)))
NEW = kept(project_objects(SLURM_WITH_NEW, WITH_NEW))
[SPACE] = [it for it in namespaces(SLURM_WITH_NEW, WITH_NEW) if it["metadata"]["name"] == "delta"]


def run(manifests: list[Json], check: bool = False) -> Outcome:
    cluster = KubeProjects(connect(str(Paths.of().installer_kubeconfig)), manifests)
    return converge(cluster, plan, wanted(manifests), check=check)


@pytest.fixture
def gone(client: Client, scene: Scene) -> Iterator[None]:
    """The scene has no controllers, which would end unused volumes and claims."""
    yield
    for body in NEW:
        if body["kind"].startswith("PersistentVolume"):
            client.ask(
                "PATCH", path_of(body), {"metadata": {"finalizers": None}}, ADMIN, "application/merge-patch+json"
            )
    client.ask("DELETE", path_of(SPACE), who=ADMIN)


def applied(client: Client, body: Json) -> int:
    return client.ask("PATCH", f"{path_of(body)}?fieldManager=drawbridge&force=true", body, DEPLOYER, APPLY).status


@pytest.mark.usefixtures("scene")
def test_objects_of_the_last_run_need_no_step() -> None:
    found = run(OLD)
    assert (found.changed, found.steps, found.pending) == (False, [], [])


@pytest.mark.usefixtures("gone")
def test_a_new_project_needs_no_administrator_and_leaves_its_data(client: Client) -> None:
    before = run(NEW, check=True)
    assert len(before.steps) == 1 + 3 + 2 * 3, "predicted before its namespace exists"
    assert applied(client, SPACE) < 300
    made = run(NEW)
    assert (made.steps, made.error) == (before.steps, "")
    assert run(NEW).changed is False
    left = run(OLD)
    assert all(step.endswith("its data stays") for step in left.steps) and len(left.steps) == 6
    assert not left.error
    again: Any = run(OLD)
    assert (again.changed, len(again.pending)) == (False, 6), "protection of claims and volumes holds them"
