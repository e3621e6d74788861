# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The check from outside: what a person sees, and that no host is contacted."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(os.environ["MOLECULE_PROJECT_DIRECTORY"])


def check(tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    """Return code, output, and what was asked of ssh: a recorder stands in its place and must stay empty."""
    asked = tmp_path / "ssh.log"
    recorder = tmp_path / "ssh"
    recorder.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexit 255\n')
    recorder.chmod(0o755)
    command = ["ansible-playbook", "-i", "inventories/lab", "playbooks/check.yml", *arguments]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_SSH_EXECUTABLE": str(recorder)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, asked.read_text() if asked.exists() else ""


def test_the_lab_is_accepted(tmp_path: Path) -> None:
    code, output, asked = check(tmp_path)
    assert (code, asked) == (0, ""), output


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"drawbridge_kube": {}}, "drawbridge_kube.api_server is missing, but it has no default"),
        ({"cluster_intent_whole_site": True}, "leaves out ctl, where cluster-wide files are made"),
    ],
)
def test_refusals_reach_the_person_under_limit(tmp_path: Path, variables: dict[str, object], sentence: str) -> None:
    code, output, asked = check(tmp_path, "--limit", "gpu01", "-e", json.dumps(variables))
    assert code == 2 and sentence in output, output
    assert asked == ""


def test_intent_in_another_place_is_refused(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    (inventory / "group_vars").mkdir(parents=True)
    (inventory / "host_vars").mkdir()
    (inventory / "group_vars/nodes.yml").write_text("drawbridge_fabric: {}\n")
    (inventory / "host_vars/gpu01.yml").write_text("drawbridge_gpfs: {}\n")
    (inventory / "more.yml").write_text("gpu:\n  vars: {drawbridge_kube: {}}\n")
    _, output, asked = check(tmp_path, "-i", str(inventory))
    for sentence in (
        'drawbridge_fabric is "group_vars/nodes.yml", but the intent is the same for every host',
        'drawbridge_gpfs is "host_vars/gpu01.yml", but',
        'drawbridge_kube is "inventory entry gpu", but',
    ):
        assert sentence in output, output
    assert asked == ""
