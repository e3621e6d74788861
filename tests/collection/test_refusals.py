# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Refusals from end to end: what a person sees of site.yml, and that no host was contacted.

The table of broken inventories is tests/unit/module_utils/site/refused.yml; one of each domain goes the whole way here.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.collection.installed import ROOT, Completed, bare_environment, run
from tests.collection.recorder import Recorder
from tests.unit.module_utils.site.test_refused import CASES, patched

END_TO_END = (
    "dscp_lands_elsewhere",
    "class_not_described",
    "partition_with_a_stranger",
    "two_file_systems_at_one_place",
    "infra_node_in_a_gated_partition",
)
BROKEN = [case for case in CASES if case["id"] in END_TO_END]


def play(recorder: Recorder, tmp_path: Path, *arguments: str, playbook: str = "site") -> Completed:
    """Run a playbook, the whole site's if no other is named or given as a path, against stand-ins."""
    environment = bare_environment(tmp_path / "home") | recorder.environment
    environment |= {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "LAB_STATE": str(tmp_path / "lab")}
    path = playbook if playbook.endswith(".yml") else f"playbooks/{playbook}.yml"
    argv = ["ansible-playbook", "-i", "inventories/lab", path, *arguments]
    return run(argv, ROOT, environment)


def refuse(recorder: Recorder, tmp_path: Path, *arguments: str, playbook: str = "site") -> str:
    """Run a playbook, which must be refused and touch nobody; return what was said."""
    done = play(recorder, tmp_path, *arguments, playbook=playbook)
    assert recorder.asked == []
    assert done.code == 2, done.text
    return done.out


def variables(values: dict[str, Any]) -> tuple[str, str]:
    return ("-e", json.dumps(values))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is said of a site with a fault in each domain: one run, since faults are told together."""
    folder = tmp_path_factory.mktemp("broken")
    broken = patched({key: value for case in BROKEN for key, value in case["patch"].items()})
    return [line.strip() for line in refuse(Recorder(folder), folder, *variables(broken)).splitlines()]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case["id"])
def test_a_broken_intent_is_refused(told: list[str], case: dict[str, str]) -> None:
    [sentence] = {line for line in told if line.startswith(f"{case['key']} is ")}
    for part in ("value", "reason", "repair"):
        assert case[part] in sentence


def test_every_domain_is_broken_once() -> None:
    assert len(BROKEN) == len(END_TO_END)
    domains = [key.partition(".")[0] for case in BROKEN for key in case["patch"]]
    assert sorted(domains) == sorted(f"drawbridge_{name}" for name in ("fabric", "gpfs", "kube", "nodes", "slurm"))


def test_several_faults_are_told_together(recorder: Recorder, tmp_path: Path) -> None:
    output = refuse(recorder, tmp_path, *variables({"drawbridge_kube": {}, "drawbridge_slurm": []}))
    for sentence in (
        "drawbridge_kube.api_server is missing, but it has no default",
        "drawbridge_slurm is [], but a mapping is expected here; write drawbridge_slurm as keys and values",
    ):
        assert sentence in output


def test_a_site_without_its_controllers_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    output = refuse(recorder, tmp_path, "--limit", "gpu01,gpu02")
    assert "it leaves out ctl, where cluster-wide files are made" in output
    assert "ansible-playbook playbooks/onboard.yml -e 'nodes=gpu[01-02]'" in output


def test_a_broken_intent_is_refused_under_a_limit_as_well(recorder: Recorder, tmp_path: Path) -> None:
    """By the first host that is left, whichever it is."""
    broken = patched({"drawbridge_fabric.dscp": 99})
    output = refuse(recorder, tmp_path, "--limit", "leaf2", *variables(broken), playbook="fabric")
    assert "the intent is refused:" in output, "whoever uses it notices as well, but the check comes first"
    assert "drawbridge_fabric.dscp is 99, but" in output


def test_intent_in_another_place_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    """Everywhere that Ansible reads variables: beside the inventory, also through links, and beside playbooks."""
    inventory, playbooks, shared, own = (tmp_path / name for name in ("inventory", "playbooks", "shared", "own"))
    shutil.copytree(ROOT / "playbooks", playbooks)
    files = {
        inventory / "group_vars/nodes.yml": "drawbridge_fabric: {}\n",
        inventory / "host_vars/gpu01.yml": "drawbridge_gpfs: {}\n",
        inventory / "more.yml": "gpu:\n  vars: {drawbridge_kube: {}}\n",
        shared / "fabric.yml": "drawbridge_fabric: {}\n",
        playbooks / "group_vars/all.yml": "drawbridge_slurm: {}\n",
        playbooks / "parts/host_vars/gpu01": "drawbridge_nodes: {}\n",
        own / "group_vars/gpu/x.yml": "drawbridge_nodes: {}\n",
        own / "site.yml": f"- import_playbook: {playbooks}/site.yml\n",
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (inventory / "group_vars/gpu").symlink_to(shared)
    output = refuse(recorder, tmp_path, "-i", str(inventory), playbook=str(own / "site.yml"))
    for sentence in (
        'drawbridge_fabric is "group_vars/nodes.yml", but the intent is the same for every host',
        'drawbridge_gpfs is "host_vars/gpu01.yml", but',
        'drawbridge_kube is "inventory entry gpu", but',
        'drawbridge_fabric is "group_vars/gpu/fabric.yml", but',
        'drawbridge_slurm is "playbooks/group_vars/all.yml", but',
        'drawbridge_nodes is "playbooks/parts/host_vars/gpu01", but',
        'drawbridge_nodes is "own/group_vars/gpu/x.yml", but',
    ):
        assert sentence in output


@pytest.mark.parametrize(("limit", "way"), [("ctl", "ssh"), ("ctl,leaf1", "netmiko")])
def test_the_stand_ins_see_an_accepted_site(recorder: Recorder, tmp_path: Path, limit: str, way: str) -> None:
    """An empty record is worth something only while the stand-ins stand where hosts are contacted."""
    key = tmp_path / "key"
    key.touch()
    done = play(recorder, tmp_path, "--limit", limit, *variables({"ansible_ssh_private_key_file": str(key)}))
    assert {line.split()[0] for line in recorder.asked} == {way}, done.text
