# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What drawbridge-run makes is let in by the real API server: by the types of all kinds, and by the policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.hosts.paths import REPOSITORY, Paths
from lab.tools import definitions
from roles.drawbridge_run.files.run.kinds import KINDS, collection
from tests.attacks.client import Answer, Json, path_of
from tests.attacks.scene import Scene, until
from tests.unit.roles.drawbridge_run.job import request

pytestmark = pytest.mark.live

LINE = "--image img --mount /gpfs/fs1 --env A=b --secret-env KEY=wandb/api --all-logs -- torchrun train.py"


OVERRIDES = {"podSpecOverrides": [{"targetJobs": [{"name": "node"}], "nodeSelector": {"a": "b"}}]}
"""What only the first release of Trainer calls so."""


def objects(root: Path, kinds: Iterable[str] = KINDS) -> list[Json]:
    return [item for kind in kinds for item in KINDS[kind].make(request(root, LINE))]


def posted(scene: Scene, item: Json, **spec: Any) -> Answer:
    """What the API server says to an object of job 4711, word for word; nothing stays."""
    path = f"{collection(item)}?dryRun=All&fieldValidation=Strict"
    return scene.client.ask("POST", path, {**item, "spec": {**item["spec"], **spec}}, scene.people["job 4711"])


def define(scene: Scene, *modules: definitions.Module) -> None:
    """Have the API server know the kinds as these releases define them."""
    files = definitions.ensure(Paths.of().cache, print, modules)
    scene.client.close()  # what downloads for minutes finds its connection ended
    for file in files:
        body = yaml.load(file.read_text(), yaml.CSafeLoader)
        scene.client.apply(path_of(body), body)


@pytest.fixture
def first_trainer(scene: Scene, tmp_path: Path) -> Iterator[None]:
    """Trainer 2.0.0 instead of the pinned release: its TrainJobs are overridden by a field of another name."""
    *_, job = objects(tmp_path, ["trainjob"])
    assert "podSpecOverrides" in posted(scene, job, **OVERRIDES).message
    define(scene, definitions.FIRST_TRAINER)
    until(lambda: posted(scene, job, **OVERRIDES).status == 201, "the first release's definitions are in force")
    yield
    define(scene, definitions.TRAINER)
    until(lambda: posted(scene, job, **OVERRIDES).status != 201, "the pinned release's definitions are back")


def test_every_kind_is_let_in_without_unknown_fields(scene: Scene, tmp_path: Path) -> None:
    for item in objects(tmp_path):
        answer = posted(scene, item)
        assert answer.status == 201, f"{item['kind']}: {answer.message}"


@pytest.mark.parametrize("name", ["torchrun", "trainjob"])
def test_examples_that_need_more_than_the_lab_are_let_in(scene: Scene, tmp_path: Path, name: str) -> None:
    script = (REPOSITORY / f"examples/{name}.sbatch").read_text()
    wanted = request(tmp_path, "--mount /gpfs/fs1 " + script.partition("exec drawbridge-run ")[2])
    for item in KINDS[wanted.options.backend].make(wanted):
        answer = posted(scene, item)
        assert answer.status == 201, f"{item['kind']}: {answer.message}"


def test_trainers_first_release_lets_the_same_objects_in(scene: Scene, first_trainer: None, tmp_path: Path) -> None:
    """A runtime of the job's own needs no override, whatever a release calls that."""
    for item in objects(tmp_path, ["trainjob"]):
        answer = posted(scene, item)
        assert answer.status == 201, f"{item['kind']}: {answer.message}"


def test_no_kind_is_let_in_for_another_job(scene: Scene, tmp_path: Path) -> None:
    """The same objects, by the account of a job whose number begins alike."""
    for item in objects(tmp_path):
        answer = scene.client.ask("POST", f"{collection(item)}?dryRun=All", item, scene.people["job 471"])
        assert answer.status in (403, 422), f"{item['kind']}: {answer.status}"
        assert "drawbridge-workloads" in answer.message
