# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The role from outside: the lab is accepted, and no host is contacted; tests/collection has the refusals."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(os.environ["MOLECULE_PROJECT_DIRECTORY"])


def check(tmp_path: Path) -> tuple[int, str, str]:
    """Return code, output, and the calls of ssh: a recorder replaces it, and its log must stay empty."""
    asked = tmp_path / "ssh.log"
    recorder = tmp_path / "ssh"
    recorder.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexit 255\n')
    recorder.chmod(0o755)
    command = ["ansible-playbook", "-i", "inventories/lab", "playbooks/check.yml"]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_SSH_EXECUTABLE": str(recorder)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, asked.read_text() if asked.exists() else ""


def test_the_lab_is_accepted(tmp_path: Path) -> None:
    code, output, asked = check(tmp_path)
    assert (code, asked) == (0, ""), output
