# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[4] / "roles/slurm_node/files/slurm-job-gpus.py"


class Node:
    """The exporter's directory, the driver's directory, and a stand-in for squeue."""

    def __init__(self, root: Path) -> None:
        self.root, self.directory, self.driver = root, root / "run/job-mapping", root / "driver"
        (root / "bin").mkdir()
        self.squeue("true")

    def squeue(self, body: str) -> None:
        path = self.root / "bin/squeue"
        path.write_text(f'#!/bin/sh\necho "$*" >> {self.root}/asked\n{body}\n')
        path.chmod(0o755)

    def gpu(self, address: str, minor: int, instances: tuple[int, ...] = ()) -> None:
        """A GPU as the driver's files show it."""
        folder = self.driver / "gpus" / address
        folder.mkdir(parents=True)
        lines = ("Model: \t\t NVIDIA H100 80GB HBM3", "IRQ:   \t\t 120", f"Device Minor: \t {minor}")
        (folder / "information").write_text("".join(f"{line}\n" for line in lines))
        for number in instances:
            (self.driver / f"capabilities/gpu{minor}/mig/gi{number}").mkdir(parents=True)

    def run(self, verb: str, job: int = 0, gpus: str = "") -> int:
        env = {"SLURMD_NODENAME": "gpu01", "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        env |= {"SLURM_JOB_ID": str(job), **({"SLURM_JOB_GPUS": gpus} if gpus else {})}
        # by the Python that runs the tests: they run on the oldest that nodes may have, too
        argv = [sys.executable, str(PROGRAM), "--directory", str(self.directory), "--driver", str(self.driver), verb]
        return subprocess.run(argv, env=env, check=False, timeout=120).returncode

    def shown(self) -> dict[str, str]:
        """What the exporter reads, and all that lies beside it."""
        return {file.name: file.read_text() for file in self.directory.iterdir()} if self.directory.exists() else {}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_a_job_is_named_in_the_files_of_its_gpus_until_its_end(node: Node) -> None:
    assert node.run("write", 7, "0,3") == 0
    assert node.run("write", 8, "1") == 0
    assert node.shown() == {"0": "7\n", "3": "7\n", "1": "8\n"}
    modes = {stat.S_IMODE(file.stat().st_mode) for file in node.directory.iterdir()}
    assert (modes, stat.S_IMODE(node.directory.stat().st_mode)) == ({0o644}, 0o755)
    assert node.run("remove", 7) == 0
    assert node.shown() == {"1": "8\n"}


def test_a_job_without_gpus_has_no_file(node: Node) -> None:
    assert node.run("write", 7) == 0
    assert node.run("remove", 7) == 0
    assert node.shown() == {}


def test_slurms_numbers_are_those_of_device_files_and_the_exporters_follow_the_pci_addresses(node: Node) -> None:
    node.gpu("0000:1b:00.0", minor=2)
    node.gpu("0000:43:00.0", minor=0)
    node.gpu("0000:9d:00.0", minor=1)
    node.run("write", 7, "0,2")
    assert set(node.shown()) == {"1", "0"}


def test_a_gpu_that_mig_splits_has_a_file_for_each_instance(node: Node) -> None:
    node.gpu("0000:1b:00.0", minor=1, instances=(2, 11))
    node.gpu("0000:43:00.0", minor=0)
    node.run("write", 7, "0,1")
    assert node.shown() == {"0": "7\n", "0.11": "7\n", "0.2": "7\n", "1": "7\n"}
    node.run("remove", 7)
    assert node.shown() == {}


def test_the_next_job_of_a_gpu_replaces_one_whose_epilog_never_ran(node: Node) -> None:
    node.run("write", 7, "0,1")
    node.run("write", 8, "0")
    assert node.shown() == {"0": "8\n", "1": "7\n"}


def test_tidy_removes_jobs_that_slurm_does_not_have_here(node: Node) -> None:
    node.run("write", 7, "0")
    node.run("write", 8, "1")
    node.squeue("echo 8; echo 9")
    assert node.run("tidy") == 0
    assert node.shown() == {"1": "8\n"}
    assert "--nodelist=gpu01" in (node.root / "asked").read_text()


def test_tidy_asks_nothing_if_no_job_is_named(node: Node) -> None:
    assert node.run("tidy") == 0
    assert not (node.root / "asked").exists()


def test_without_an_answer_nothing_is_removed(node: Node) -> None:
    node.run("write", 7, "0")
    node.squeue("exit 1")
    assert node.run("tidy") == 1
    assert node.shown() == {"0": "7\n"}


@pytest.mark.parametrize("verb", ["write", "remove"])
def test_a_directory_that_cant_be_written_keeps_no_job_back(node: Node, verb: str) -> None:
    node.directory.parent.mkdir()
    node.directory.write_text("not a directory\n")
    assert node.run(verb, 7, "0") == 0
