# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""describe.yml on a live Slurm and nodes of kubeadm's, before anything of Drawbridge is there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.hosts.paths import Paths
from tests.describing import answered, missing, shipped
from tests.running import Lab

INVENTORY = Path(__file__).parents[1] / "inventory"
DEBUG = {"name": "debug", "nodes": "gpu01"}
"""A partition of the old cluster that the shipped intent leaves out."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An inventory with hosts in groups, and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    shutil.copy(INVENTORY / "hosts.yml", folder)
    return folder


@pytest.fixture(scope="module")
def wanted() -> dict[str, Any]:
    """The shipped intent, and answers for what it leaves out."""
    intent = shipped(INVENTORY)
    partitions = [*intent["drawbridge_slurm"]["partitions"], DEBUG]
    intent["drawbridge_slurm"]["partitions"] = [{"gate": False, **part} for part in partitions]
    server = intent["drawbridge_kube"]["api_server"]
    intent["drawbridge_kube"]["api_server"] = server.replace("{{ lab_network }}", f"10.77.{Paths.of().lab_id}")
    return {**intent, "drawbridge_gpfs": None}


@pytest.fixture(scope="module")
def intent(bare: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """What a run wrote, with answers. The hosts' inventory gets it."""
    done = Lab(Paths.of(), (str(bare),)).playbook("describe", "-e", f"describe_into={bare / 'described'}")
    assert done.code == 0, done.output
    found: dict[str, Any] = {}
    for file in (bare / "described/group_vars/all").glob("*.yml"):
        found |= yaml.safe_load(answered(file.read_text(), wanted)) or {}
    (bare / "group_vars/all").mkdir(parents=True)
    given = {key: value for key, value in found.items() if value is not None}
    (bare / "group_vars/all/intent.yml").write_text(yaml.safe_dump(given))
    return given


def test_with_its_questions_answered_it_is_the_shipped_intent(intent: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert list(missing(intent, wanted)) == []
    assert intent["drawbridge_nodes"] == wanted["drawbridge_nodes"]
    assert intent.keys() == {"drawbridge_nodes", "drawbridge_slurm", "drawbridge_kube"}


def test_partitions_of_included_files_and_kubeadms_cluster_are_read(intent: dict[str, Any]) -> None:
    assert [part["name"] for part in intent["drawbridge_slurm"]["partitions"]] == ["AI_Train", "vision_lab", "debug"]
    assert intent["drawbridge_slurm"]["cluster"] == "old_cluster"
    assert intent["drawbridge_kube"]["join"] == "site"


def test_the_check_accepts_it(bare: Path, intent: dict[str, Any]) -> None:
    assert intent
    done = Lab(Paths.of(), (str(bare),)).playbook("check")
    assert done.code == 0, done.output
