# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Refusals from end to end: what a person sees of site.yml, and that no host was contacted.

The table of broken inventories is tests/unit/intent/refused.yml; one of each domain goes the whole way here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.collection.installed import ROOT, Completed, bare_environment, run
from tests.collection.recorder import Recorder
from tests.unit.intent.test_refused import CASES, patched

END_TO_END = {
    "dscp_lands_elsewhere": "drawbridge_fabric",
    "class_not_described": "drawbridge_nodes",
    "partition_with_a_stranger": "drawbridge_slurm",
    "two_file_systems_at_one_place": "drawbridge_gpfs",
    "infra_node_in_a_gated_partition": "drawbridge_kube",
}
BY_ID = {case["id"]: case for case in CASES}


def play(recorder: Recorder, tmp_path: Path, *arguments: str, playbook: str = "site") -> Completed:
    """Run a playbook, the whole site's if no other is named, against stand-ins."""
    environment = bare_environment(tmp_path / "home") | recorder.environment
    environment |= {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "LAB_STATE": str(tmp_path / "lab")}
    argv = ["ansible-playbook", "-i", "inventories/lab", f"playbooks/{playbook}.yml", *arguments]
    return run(argv, ROOT, environment)


def refuse(recorder: Recorder, tmp_path: Path, *arguments: str, playbook: str = "site") -> str:
    """Run a playbook, which must be refused and touch nobody; return what was said."""
    done = play(recorder, tmp_path, *arguments, playbook=playbook)
    assert recorder.asked == []
    assert done.code == 2, done.text
    return done.out


def variables(values: dict[str, Any]) -> tuple[str, str]:
    return ("-e", json.dumps(values))


@pytest.mark.parametrize(("name", "domain"), END_TO_END.items(), ids=list(END_TO_END))
def test_a_broken_intent_is_refused(recorder: Recorder, tmp_path: Path, name: str, domain: str) -> None:
    case = BY_ID[name]
    output = refuse(recorder, tmp_path, *variables({domain: patched(case["patch"])[domain]}))
    [sentence] = {line.strip() for line in output.splitlines() if line.strip().startswith(f"{case['key']} is ")}
    for part in ("value", "reason", "repair"):
        assert case[part] in sentence


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
    assert "ansible-playbook playbooks/onboard.yml -e nodes=gpu[01-02]" in output


def test_intent_in_another_place_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    (inventory / "group_vars").mkdir(parents=True)
    (inventory / "host_vars").mkdir()
    (inventory / "group_vars/nodes.yml").write_text("drawbridge_fabric: {}\n")
    (inventory / "host_vars/gpu01.yml").write_text("drawbridge_gpfs: {}\n")
    (inventory / "more.yml").write_text("gpu:\n  vars: {drawbridge_kube: {}}\n")
    output = refuse(recorder, tmp_path, "-i", str(inventory))
    for sentence in (
        'drawbridge_fabric is "group_vars/nodes.yml", but the intent is the same for every host',
        'drawbridge_gpfs is "host_vars/gpu01.yml", but',
        'drawbridge_kube is "inventory entry gpu", but',
    ):
        assert sentence in output


@pytest.mark.parametrize(("limit", "way"), [("ctl", "ssh"), ("ctl,leaf1", "netmiko")])
def test_the_stand_ins_see_an_accepted_site(recorder: Recorder, tmp_path: Path, limit: str, way: str) -> None:
    """An empty record is worth something only while the stand-ins stand where hosts are contacted."""
    key = tmp_path / "key"
    key.touch()
    done = play(recorder, tmp_path, "--limit", limit, *variables({"ansible_ssh_private_key_file": str(key)}))
    assert {line.split()[0] for line in recorder.asked} == {way}, done.text
