# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What stands between containerd and runc in the lab's hosts."""

import json
import subprocess
import sys

import pytest

from lab.kubernetes import provision

WRAPPER = provision.HERE / "guest/lab-runc"


@pytest.fixture
def run(tmp_path):
    """Run the wrapper with a runc that prints its arguments, and return these."""
    runc = tmp_path / "runc"
    runc.write_text('#!/bin/sh\necho "$@"\n')
    runc.chmod(0o755)
    wrapper = tmp_path / "lab-runc"
    wrapper.write_text(WRAPPER.read_text().replace("/usr/bin/runc", str(runc)))

    def call(*arguments):
        command = [sys.executable, "-IS", wrapper, *arguments]
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
