# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What drawbridge-run makes is let in by the real API server: by the types of all kinds, and by the policies."""

from __future__ import annotations

from pathlib import Path

import pytest

from roles.slurm_gate.files.run.kinds import KINDS, collection
from tests.attacks.client import Json
from tests.attacks.scene import Scene
from tests.unit.roles.slurm_gate.run.job import request

pytestmark = pytest.mark.live

LINE = "--image img --mount /gpfs/fs1 --env A=b --secret-env KEY=wandb/api --all-logs -- torchrun train.py"


def objects(root: Path) -> list[Json]:
    return [item for kind in KINDS.values() for item in kind.make(request(root, LINE))]


def test_every_kind_is_let_in_without_a_word_too_many(scene: Scene, tmp_path: Path) -> None:
    for item in objects(tmp_path):
        path = f"{collection(item)}?dryRun=All&fieldValidation=Strict"
        answer = scene.client.ask("POST", path, item, scene.people["job 4711"])
        assert answer.status == 201, f"{item['kind']}: {answer.message}"


def test_no_kind_is_let_in_for_another_job(scene: Scene, tmp_path: Path) -> None:
    """The same objects, by the account of a job whose number begins alike."""
    for item in objects(tmp_path):
        answer = scene.client.ask("POST", f"{collection(item)}?dryRun=All", item, scene.people["job 471"])
        assert answer.status in (403, 422), f"{item['kind']}: {answer.status}"
        assert "drawbridge-workloads" in answer.message
