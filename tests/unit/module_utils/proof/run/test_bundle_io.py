# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The worker's file runs with no other file of this tree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.bundle_io import PYTHON, bundle
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import Request, answers

from tests.conformance.tree import ROOT

REQUEST = Request(
    {"big": ProofNode("", "big")}, {"big": "n1"}, addresses={"n1": "é"}, passports={"n1": ("x", "y", "z")}
)


def call(file: Path, *before: str, name: str = "n1") -> subprocess.CompletedProcess[str]:
    variables = {"SLURMD_NODENAME": name, "PYTHONPATH": "/none", "PATH": os.environ["PATH"]}
    return subprocess.run([*before, str(file)], env=variables, cwd="/", capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return bundle(ROOT / "module_utils", REQUEST.to_json(), tmp_path_factory.mktemp("made") / "worker").read_bytes()


@pytest.mark.parametrize(("name", "error"), [("n1", "DeviceError: "), ("n2", "the request does not name this node")])
def test_it_answers_and_removes_itself(made: bytes, tmp_path: Path, name: str, error: str) -> None:
    """A passport needs modules and programs; one that is not signed is refused."""
    file = tmp_path / "worker"
    file.write_bytes(made)
    done = call(file, sys.executable, "-I", name=name)
    assert (done.returncode, done.stderr) == (0, "")
    assert answers(done.stdout)[name].error.startswith(error)
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_may_run_it_and_the_system_finds_its_python(tmp_path: Path) -> None:
    (tmp_path / "lib/drawbridge/proof/run").mkdir(parents=True)
    text = "def main(request):\n    print(request)\n    return 7\n"
    (tmp_path / "lib/drawbridge/proof/run/worker_io.py").write_text(text)
    file = bundle(tmp_path / "lib", "ä", tmp_path / "worker")
    assert file.stat().st_mode & 0o777 == 0o700
    assert file.read_bytes().startswith(PYTHON)
    done = call(file, *PYTHON.decode()[2:].split())
    assert (done.returncode, done.stdout, done.stderr, file.exists()) == (7, "ä\n", "", False)


def test_what_it_replaces_does_not_stay(tmp_path: Path) -> None:
    (tmp_path / "worker").write_bytes(b"x" * 10_000)
    (tmp_path / "lib/drawbridge").mkdir(parents=True)
    assert bundle(tmp_path / "lib", "", tmp_path / "worker").stat().st_size < 2000
