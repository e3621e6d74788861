# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a portal reads of a run for its project: the JSON of the report, as docs/guides/projects.md shows it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.collect import findings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.fold import Run, document, fold
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.formats import as_json

from tests.unit.projects.test_ends import ALPHA, BETA, JOB, built, intent, run, settle, world
from tests.unit.projects.world import Failed, World

__all__ = ["built", "world"]
Json = dict[str, Any]


def report(world: World) -> Json:
    """The file of the last run."""
    about = Run("projects.yml", False, "", "", 0.0, [], 0, "", "", "")
    found = [each for event in world.events for each in findings(event)]
    return json.loads(as_json(document(about, fold(found))))


def texts(world: World, kind: str) -> dict[str, list[str]]:
    """Sentences of one kind, by layer."""
    found: dict[str, list[str]] = {}
    for each in report(world)["findings"]:
        if each["kind"] == kind:
            found.setdefault(each["layer"], []).append(each["text"])
    return found


def test_each_step_is_a_sentence_with_the_name_of_its_project(world: World) -> None:
    settle(world, intent(world, BETA))
    run(world, intent(world, ALPHA, BETA), projects_only=["alpha"])
    done = texts(world, "changed")
    assert set(done) == {"project", "slurm_controller", "slurm_gate"}
    assert {"create fileset alpha", "limit fileset alpha to 2 GiB and 4,096 inodes"} <= {*done["project"]}
    assert {"add account alpha", "let ada charge alpha"} <= {*done["slurm_controller"]}
    assert "make PersistentVolumeClaim alpha/work" in done["slurm_gate"]
    assert set(report(world)["findings"][0]) >= {"kind", "layer", "hosts", "text"} and report(world)["version"] == 1
    run(world, intent(world, ALPHA, BETA))
    assert report(world)["findings"] == [], "nothing was left to do"


def test_steps_that_wait_and_refusals_say_why(world: World) -> None:
    settle(world, intent(world, ALPHA))
    world.slurm.jobs = dict(JOB)
    removed = intent(world, {**ALPHA, "state": "removed"})
    run(world, removed)
    assert texts(world, "pending")["slurm_controller"][0].startswith("remove account alpha: job 7 has it")
    world.slurm.jobs.clear()
    with pytest.raises(Failed):
        run(world, removed)
    assert "add the line project_delete: [alpha]" in texts(world, "refused")["project"][0]
