# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program that divides GPUs at a boot, without Ansible, on the emulated tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.unit.module_utils.nodes.gpus import emulated_mig
from tests.unit.module_utils.nodes.gpus.emulated_mig import MANAGER, SLURMD

ROLE = ROOT / "roles/slurm_node"
PROGRAM = ROLE / "files/drawbridge-gpu-instances.py"
SOURCES = imported(PROGRAM.read_text(), source)
SETTINGS: dict[str, Any] = {"name": "gpu01", "gpu_vendor": "nvidia", "gpus": [{}, {"3g.40gb": 2}]}
DIVIDE = "divide GPU 1 into 3g.40gb: 2 (it has none)"


class Node:
    """A node that boots, with the program and no other file of this tree."""

    def __init__(self, root: Path) -> None:
        local, self._bin = root / "usr/local", root / "bin"
        folder = local / "lib/drawbridge-gpu-instances/drawbridge"
        modules = {folder / name: ROOT / "module_utils/drawbridge" / name for name in SOURCES}
        self._program, self._stamp = local / "sbin/drawbridge-gpu-instances", root / "run/stamp"
        for path, original in {self._program: PROGRAM, **modules}.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(original.read_text())
        self.place = root / "gpu-instances.json"
        self.place.write_text(json.dumps(SETTINGS))
        self._bin.mkdir()
        self.host = emulated_mig.install(root, self._install)
        self.host.boot()

    def _install(self, name: str, body: str) -> None:
        (self._bin / name).write_text(f"#!/bin/sh\n{body}\n")
        (self._bin / name).chmod(0o755)

    def call(self) -> tuple[int, str]:
        """Call it; its exit code and what it says."""
        env = {**os.environ, "PATH": "/nowhere", "PYTHONPATH": str(ROOT)}
        # by the Python that runs the tests: they run on the oldest that nodes may have, too
        argv = [sys.executable, "-IS", str(self._program), "--place", str(self.place), "--stamp", str(self._stamp)]
        argv += ["--path", f"{self._bin}:/usr/bin:/bin"]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        return done.returncode, f"{done.stdout}{done.stderr}".strip()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_each_boot_divides_the_gpus_and_says_it(node: Node) -> None:
    node.host.set_unit(MANAGER, enabled=True)
    code, said = node.call()
    assert (code, said.splitlines()[1:]) == (0, [DIVIDE])
    assert said.startswith(f"disable {MANAGER}")
    assert node.host.instances() == [[], ["3g.40gb"] * 2]
    assert node.call() == (0, "")
    node.host.boot()
    node.host.set_gpu(1, instances=[])
    assert node.call() == (0, DIVIDE)


def test_while_slurmd_or_a_job_runs_nothing_changes(node: Node) -> None:
    node.host.set_unit(SLURMD, active=True)
    code, said = node.call()
    assert (code, said.split("; ")[0]) == (1, f"{DIVIDE}: slurmd.service runs")
    node.host.set_unit(SLURMD, active=False)
    node.host.change(steps=True)
    assert node.call() == (1, f"{DIVIDE}: a Slurm job is on this node, although slurmd does not run")
    assert node.host.writes() == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda host: host.change(faults=["refuse"]), "a program holds a GPU"),
        (lambda host: host.change(faults=["text"]), "nvidia-smi printed an unknown line"),
        (lambda host: host.set_gpu(0, lost=True), "compare the instances of GPUs with the class: the driver lists 1"),
    ],
)
def test_a_failure_is_one_line_and_the_next_start_tries_again(
    node: Node, spoil: Callable[[emulated_mig.Host], None], said: str
) -> None:
    spoil(node.host)
    code, text = node.call()
    assert (code, len(text.splitlines())) == (1, 1)
    assert text.startswith(said)
    node.host.change(faults=[])
    node.host.set_gpu(0, lost=False)
    assert node.call()[0] == 0
    assert node.host.instances() == [[], ["3g.40gb"] * 2]


def test_without_the_driver_or_the_tool_it_says_so(node: Node) -> None:
    (node.place.parent / "bin/nvidia-mig-parted").unlink()
    code, said = node.call()
    assert (code, said.startswith("nvidia-mig-parted is not installed on this host; install NVIDIA's package")) == (
        1,
        True,
    )
    (node.place.parent / "bin/nvidia-smi").unlink()
    assert node.call() == (1, "nvidia-smi can't be run: No such file or directory")


@pytest.mark.parametrize(
    "text",
    [None, "", "[]", "{}", '{"name": "gpu01", "gpu_vendor": "amd", "gpus": [{"a": 1}]}']
    + [json.dumps({**SETTINGS, "gpus": gpus}) for gpus in ([], 3, ["3g.40gb"], [{"3g.40gb": "two"}])],
)
def test_a_file_without_layouts_divides_nothing(node: Node, text: str | None) -> None:
    node.place.unlink()
    if text is not None:
        node.place.write_text(text)
    code, said = node.call()
    assert (code, said.startswith(f"{node.place} has no instances of GPUs, run site.yml")) == (1, True)
    assert len(said.splitlines()) == 1 and node.host.state["calls"] == []


def test_it_runs_without_the_callers_python_settings_and_packages() -> None:
    placed = {it["path"]: it for it in yaml.safe_load((ROLE / "vars/main.yml").read_text())["__slurm_node_instances"]}
    program = placed["/usr/local/sbin/drawbridge-gpu-instances"]
    assert (program["source"], program["run_by"]) == (PROGRAM.name, "/usr/bin/python3 -IS")
    assert [(ROLE / "files" / it["source"]).is_file() for it in placed.values()] == [True] * 3


def test_the_unit_is_before_all_that_hold_gpus_open_and_slurmd_wants_it() -> None:
    """slurmd also starts when it fails."""
    unit = (ROLE / "files/drawbridge-gpu-instances.service").read_text()
    [first, second] = [line for line in unit.splitlines() if line.startswith("Before=")]
    assert {"slurmd.service", "containerd.service", "kubelet.service"} <= {*first[7:].split(), *second[7:].split()}
    assert "After=nvidia-persistenced.service nvidia-fabricmanager.service\n" in unit
    drop_in = (ROLE / "files/30-drawbridge-gpu-instances.conf").read_text().splitlines()
    assert drop_in[1:] == ["[Unit]", *(f"{key}=drawbridge-gpu-instances.service" for key in ("Wants", "After"))]
