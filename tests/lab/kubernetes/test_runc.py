# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What stands between containerd and runc in the lab's hosts."""

import json
import subprocess
import sys

import pytest

from lab.kubernetes import provision

GUEST = provision.HERE / "guest"


@pytest.fixture
def run(tmp_path):
    """Run the wrapper with a runc that prints its arguments, and return these."""
    runc = tmp_path / "runc"
    runc.write_text('#!/bin/sh\necho "$@"\n')
    runc.chmod(0o755)
    here = {"/usr/bin/runc": str(runc), "/usr/bin/python3": sys.executable, "/usr/lib/lab": str(tmp_path)}
    for name in ("lab-runc", "lab-runc-create"):
        text = (GUEST / name).read_text()
        for path, ours in here.items():
            text = text.replace(path, ours)
        (tmp_path / name).write_text(text)

    def call(*arguments):
        command = ["sh", tmp_path / "lab-runc", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    return call


def test_a_new_container_has_no_limits_and_keeps_the_rest(run, tmp_path):
    linux = {"resources": {"cpu": {"shares": 2}}, "cgroupsPath": "/kubepods/x", "namespaces": [{"type": "pid"}]}
    (tmp_path / "config.json").write_text(json.dumps({"ociVersion": "1.2.0", "linux": linux}))
    arguments = ("--root", "/run/runc", "create", "--bundle", str(tmp_path), "abc")
    assert run(*arguments) == " ".join(arguments)
    written = json.loads((tmp_path / "config.json").read_text())
    assert written == {"ociVersion": "1.2.0", "linux": linux | {"resources": {}, "cgroupsPath": ""}}


def test_later_changes_of_limits_reach_nobody(run):
    assert run("--root", "/run/runc", "update", "--resources", "-", "abc") == ""


def test_other_verbs_pass_unchanged(run):
    assert run("--root", "/run/runc", "kill", "abc", "9") == "--root /run/runc kill abc 9"
