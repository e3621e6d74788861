# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program that a node runs without Ansible, with a real ssh-keygen, and an emulated scontrol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.passport_io import make_key
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.unit.module_utils.proof import test_passport_deliver_io as place

PROGRAM = ROOT / "roles/slurm_node/files/drawbridge-passport.py"
SOURCES = imported(PROGRAM.read_text(), source)


class Node(place.Node):
    """A node with the program and no other file of this tree."""

    def __init__(self, root: Path, key: Path) -> None:
        super().__init__(root, key)
        local = root / "usr/local"
        program = local / "lib/drawbridge-passport/drawbridge"
        modules = {program / name: ROOT / "module_utils/drawbridge" / name for name in SOURCES}
        self._program = local / "sbin/drawbridge-passport"
        for path, original in {self._program: PROGRAM, **modules}.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(original.read_text())
        self.reserved("echo 'Reservation drawbridge-proof not found' >&2; exit 1")

    def reserved(self, body: str) -> None:
        self.write("bin/scontrol", f'#!/bin/sh\necho "$SLURM_TIME_FORMAT $*" >> {self.root}/asked\n{body}\n')
        (self.root / "bin/scontrol").chmod(0o755)

    def asked(self) -> list[str]:
        file = self.root / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def call(self, verb: str, stdin: str = "") -> tuple[int, str]:
        """Call it; its exit code and what it says."""
        path = f"{self.root}/bin:{os.environ['PATH']}"
        # by the Python that runs the tests: they run on the oldest that nodes may have, too
        argv = [sys.executable, "-IS", str(self._program), verb, "--root", str(self.root), "--path", path]
        done = subprocess.run([*argv, "--limit", "300"], input=stdin, capture_output=True, text=True, check=False)
        return done.returncode, f"{done.stdout}{done.stderr}".strip()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    make_key(str(tmp_path / "key"))
    return Node(tmp_path, tmp_path / "key")


def test_a_node_takes_jobs_with_the_passport_that_it_got(node: Node) -> None:
    assert node.call("look") == (1, place.NONE)
    assert node.call("depends") == (0, '{"intent": "4f2a", "kernel": "6.12.48"}')
    proof = node.proof()
    proof["passport"] = proof.pop("text")
    code, said = node.call("deliver", json.dumps({**proof, "signature": ""}))
    assert (code, said, node.passport.exists()) == (1, "its passport is not signed by the controller", False)
    assert node.call("deliver", json.dumps(proof)) == (0, "")
    before = node.asked()
    assert node.call("look") == (0, "")
    assert node.asked() == before, "Slurm is not asked about a node that has a passport"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"passport": 1, "signature": 2, "public_key": 3}'])
def test_no_passport_is_delivered_by_another_text(text: str, node: Node) -> None:
    code, said = node.call("deliver", text)
    assert (code, said.startswith("that is no passport: ")) == (1, True)
    assert not node.passport.exists()


def reservation(nodes: str = "gpu[01-04]", minutes: float = 600) -> str:
    end = int(time.time() + 60 * minutes)
    return f"echo 'ReservationName=drawbridge-proof EndTime={end} Nodes={nodes} NodeCnt=4 State=ACTIVE'"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (reservation(), 0),
        (reservation(minutes=1), 1),
        (reservation("gpu[02-"), 1),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", 1),
    ],
    ids=["held", "ends soon", "no hostlist", "no answer"],
)
def test_while_a_proof_holds_the_node_there_is_no_finding(body: str, code: int, node: Node) -> None:
    node.reserved(body)
    assert node.call("look") == (code, place.NONE if code else "")
    assert node.asked() == ["%s show reservation drawbridge-proof -o"]


@pytest.mark.parametrize("content", [None, "{}"])
def test_a_node_without_settings_takes_no_jobs(content: str | None, node: Node) -> None:
    node.write("etc/drawbridge/passport.json", content or "")
    if content is None:
        (node.root / "etc/drawbridge/passport.json").unlink()
    node.reserved(reservation())
    code, said = node.call("look")
    assert (code, "has no settings of the passport" in said) == (1, True)
