# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""describe.yml on a live Slurm and nodes of kubeadm's, before anything of Drawbridge is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.hosts.paths import Paths
from tests.describing import bare, keep, missing, proposed, shipped
from tests.running import Lab

INVENTORY = Path(__file__).parents[1] / "inventory"
DEBUG = {"name": "debug", "nodes": "gpu01"}
"""A partition of the old cluster that the shipped intent leaves out."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare(INVENTORY, tmp_path_factory.mktemp("bare"))


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
def intent(hosts: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """What a run wrote, with answers. The hosts' inventory gets it."""
    done = Lab(Paths.of(), (str(hosts),)).playbook("describe", "-e", f"describe_into={hosts / 'described'}")
    assert done.code == 0, done.output
    given = {key: value for key, value in proposed(hosts / "described", wanted).items() if value is not None}
    keep(hosts, given)
    return given


def test_with_its_questions_answered_it_is_the_shipped_intent(intent: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert list(missing(intent, wanted)) == []
    assert intent["drawbridge_nodes"] == wanted["drawbridge_nodes"]
    assert intent.keys() == {"drawbridge_nodes", "drawbridge_slurm", "drawbridge_kube"}


def test_partitions_of_included_files_and_kubeadms_cluster_are_read(intent: dict[str, Any]) -> None:
    assert [part["name"] for part in intent["drawbridge_slurm"]["partitions"]] == ["AI_Train", "vision_lab", "debug"]
    assert intent["drawbridge_slurm"]["cluster"] == "old_cluster"
    assert intent["drawbridge_kube"]["join"] == "site"


def test_the_check_accepts_it(hosts: Path, intent: dict[str, Any]) -> None:
    assert intent
    done = Lab(Paths.of(), (str(hosts),)).playbook("check")
    assert done.code == 0, done.output
