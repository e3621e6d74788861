# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The boot program against commands of a few lines, which play the states that a node may boot into."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).resolve().parents[4] / "roles/gpfs_client/files/gpfs-boot.py"
KERNEL = "6.8.0-41-generic"
HEADER = "mmgetstate::HEADER:version:reserved:reserved:nodeName:nodeNumber:state:quorum:"
MODULES = ("mmfs26.ko", "mmfslinux.ko", "tracedev.ko")


class Node:
    """A node after its boot: GPFS is down, and nothing is mounted."""

    def __init__(self, root: Path) -> None:
        self.root, self.reason = root, root / "run/gpfs-boot"
        for name in ("mm", f"modules/{KERNEL}/extra", f"modules/{KERNEL}/build/include"):
            (root / name).mkdir(parents=True)
        (root / "osrelease").write_text(f"{KERNEL}\n")
        (root / "mounts").write_text("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
        (root / "state").write_text("down")
        self.command("mmfsd", "")
        self.command("mmgetstate", f'echo "{HEADER}"; echo "mmgetstate::0:1:::gpu01:7:$(cat {root}/state):4:"')
        self.command("mmstartup", f"printf active > {root}/state")
        self.command("mmmount", f"echo '90 22 0:52 / /gpfs/fs1 rw - gpfs fs1 rw' >> {root}/mounts")
        self.command("mmbuildgpl", "".join(f"touch {root}/modules/{KERNEL}/extra/{name}; " for name in MODULES))

    def command(self, verb: str, script: str) -> None:
        path = self.root / "mm" / verb
        path.write_text(f"#!/bin/sh\necho {verb} >> {self.root}/calls\n{script}\n")
        path.chmod(0o755)

    def calls(self) -> list[str]:
        path = self.root / "calls"
        return [line for line in path.read_text().splitlines() if line != "mmgetstate"] if path.exists() else []

    def boot(self, **more: Any) -> tuple[int, str]:
        """Exit code and reason."""
        filesystems = [{"device": "fs1", "mount": "/gpfs/fs1"}]
        site = {"mm_path": f"{self.root}/mm", "filesystems": filesystems, "version": "", "kernels": []}
        (self.root / "gpfs.json").write_text(json.dumps({**site, "kernel_modules": "build", **more}))
        places = {"site": "gpfs.json", "reason": "run/gpfs-boot", "modules": "modules", "mounts": "mounts"}
        words = [f"--{name}={self.root}/{path}" for name, path in {**places, "osrelease": "osrelease"}.items()]
        done = subprocess.run([sys.executable, "-I", str(PROGRAM), "--limit=0", *words], check=False)
        return done.returncode, self.reason.read_text().strip() if self.reason.exists() else ""


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_gpfs_starts_and_mounts_and_the_next_call_only_reads(node: Node) -> None:
    assert node.boot() == (0, "")
    assert node.calls() == ["mmstartup", "mmmount"]
    assert node.boot() == (0, "")
    assert node.calls() == ["mmstartup", "mmmount"]


def test_a_new_kernel_gets_its_modules_before_the_start(node: Node) -> None:
    assert node.boot(version="5.2.3-0") == (0, "")
    assert node.calls() == ["mmbuildgpl", "mmstartup", "mmmount"]


@pytest.mark.parametrize(
    ("site", "told"),
    [
        ({}, f"kernel {KERNEL} has no headers here, so the modules of GPFS 5.2.3-0 can't be built"),
        ({"kernel_modules": "prebuilt"}, f"kernel {KERNEL} has no package gpfs.gplbin-{KERNEL} of GPFS 5.2.3-0"),
        ({"kernels": ["6.5.*"]}, f"kernel {KERNEL} is not among those supported for GPFS 5.2.3-0"),
    ],
)
def test_a_kernel_that_can_have_no_modules_is_a_finding_and_nothing_starts(node: Node, site: Any, told: str) -> None:
    (node.root / f"modules/{KERNEL}/build/include").rmdir()
    assert node.boot(version="5.2.3-0", **site) == (1, told)
    assert node.calls() == []


def test_a_build_that_lies_is_a_finding(node: Node) -> None:
    node.command("mmbuildgpl", "")
    code, told = node.boot(version="5.2.3-0")
    assert code == 1 and told.startswith("mmbuildgpl reported success, but kernel")
    assert node.calls() == ["mmbuildgpl"]


def test_a_cluster_without_quorum_is_a_finding_until_it_has_one(node: Node) -> None:
    node.command("mmstartup", f"printf arbitrating > {node.root}/state")
    assert node.boot() == (1, "GPFS is arbitrating")
    (node.root / "state").write_text("active")
    assert node.boot() == (0, "")
    assert not node.reason.exists()


@pytest.mark.parametrize(
    ("verb", "script", "told"),
    [
        ("mmmount", "", "mmmount reported success, but /gpfs/fs1 is not mounted"),
        ("mmmount", "echo 'mmmount: Stale file handle' >&2; exit 1", "mmmount failed: mmmount: Stale file handle"),
        ("mmgetstate", "true", "mmgetstate gave no state"),
        ("mmgetstate", f"echo {HEADER}", "mmgetstate gave no state"),
        ("mmgetstate", "echo no cluster >&2; exit 1", "mmgetstate failed: no cluster"),
    ],
)
def test_commands_that_lie_or_refuse_are_findings(node: Node, verb: str, script: str, told: str) -> None:
    node.command(verb, script)
    assert node.boot() == (1, told)
