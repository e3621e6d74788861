# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program as a node has it, against commands of a few lines that print public transcripts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.exposition import METRICS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import GPFS
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT

PROGRAM = ROOT / "roles/telemetry/files/drawbridge-gpfs-metrics.py"
SOURCES = imported(PROGRAM.read_text(), source)
TRANSCRIPTS = ROOT / "tests/transcripts/storage/gpfs"
DOWN = "echo 'mmpmon: Failed to connect to file system daemon: Connection refused' >&2; exit 1"
HANGS = "exec sleep 600"
COUNTERS = "gpfs_perf_"
STATE = 'gpfs_state{{state="{}"}} 1\n'


class Node:
    """A node with the program, and no other file of this tree. GPFS is active and mounted."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._program = root / "usr/local/sbin/drawbridge-gpfs-metrics"
        home = root / "usr/local/lib/drawbridge-gpfs-metrics/drawbridge"
        for path, original in {
            self._program: PROGRAM,
            **{home / name: ROOT / "module_utils/drawbridge" / name for name in SOURCES},
        }.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(original.read_text())
        filesystems = [{"device": name, "mount": f"/fs/{name}"} for name in ("scratch", "project")]
        (root / "gpfs.json").write_text(json.dumps({"mm_path": f"{root}/mm", "filesystems": filesystems}))
        known = {"scratch": "gpfs scratch", "project": "ext4 /dev/sda1"}
        lines = [f"90 22 0:52 / /fs/{name} rw - {mount} rw\n" for name, mount in known.items()]
        (root / "mounts").write_text("".join(lines))
        self.command("mmpmon", f"grep -q fs_io_s && cat {TRANSCRIPTS}/mmpmon_fs_io_s.txt")
        self.command("mmdiag", f"cat {TRANSCRIPTS}/mmdiag_waiters_y.txt")
        self.command("mmgetstate", f"sed 's/:active:/:arbitrating:/' {TRANSCRIPTS}/mmgetstate_y_5.2.txt")

    def command(self, verb: str, script: str) -> None:
        path = self.root / "mm" / verb
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{verb} $*" >> {self.root}/calls\n{script}\n')
        path.chmod(0o755)

    def calls(self) -> list[str]:
        return (self.root / "calls").read_text().splitlines()

    def run(self, limit_s: float = 300) -> tuple[int, str]:
        """Exit code and errors."""
        words = [f"--place={self.root}/gpfs.json", f"--mounts={self.root}/mounts", f"--metrics={self.root}/run/metrics"]
        argv = [sys.executable, "-IS", str(self._program), f"--limit={limit_s}", *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def metrics(self) -> str:
        """What node_exporter reads."""
        return (self.root / "run/metrics/gpfs.prom").read_text()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_all_is_read_with_two_commands(node: Node) -> None:
    assert node.run() == (0, "")
    assert node.calls() == ["mmpmon -s -p", "mmdiag --waiters -Y"]
    shown = node.metrics()
    assert STATE.format("active") in shown and 'gpfs_mount_status{mount="/fs/project"} 1\n' in shown
    assert 'gpfs_perf_read_bytes_total{fs="scratch"} 205607400434\n' in shown
    assert 'gpfs_waiter_info_count{waiter="NSDThread"} 1\n' in shown
    assert not list(node.root.rglob("*.pyc"))


def test_a_daemon_that_is_not_active_has_its_state_and_no_counters(node: Node) -> None:
    assert node.run()[0] == 0
    node.command("mmpmon", DOWN)
    node.command("mmdiag", "exit 1")
    code, said = node.run()
    assert (code, "Connection refused" in said) == (0, True)
    assert STATE.format("arbitrating") in node.metrics()
    assert COUNTERS not in node.metrics() and "gpfs_waiter" not in node.metrics()
    # the mount of another type was known by its counters alone
    assert 'gpfs_mount_status{mount="/fs/scratch"} 1\n' in node.metrics() and "project" not in node.metrics()


def test_a_command_that_hangs_is_killed_and_leaves_no_old_values(node: Node) -> None:
    assert node.run()[0] == 0
    for verb in ("mmpmon", "mmgetstate", "mmdiag"):
        node.command(verb, HANGS)
    code, said = node.run(limit_s=0.2)
    assert (code, said.count("was killed")) == (0, 3)
    assert [line.split("{")[0] for line in node.metrics().splitlines() if line[0] != "#"] == ["gpfs_mount_status"]


def test_success_with_an_error_text_is_no_answer(node: Node) -> None:
    node.command("mmpmon", "echo 'mmpmon: Unexpected mmpmon response from file system daemon.' >&2")
    assert node.run() == (0, "mmpmon printed no answer\n")
    assert COUNTERS not in node.metrics() and STATE.format("arbitrating") in node.metrics()


def test_an_answer_that_ends_within_a_line_is_none(node: Node) -> None:
    node.command("mmpmon", f"head -c 300 {TRANSCRIPTS}/mmpmon_fs_io_s.txt")
    assert node.run()[0] == 0
    assert COUNTERS not in node.metrics()


def test_a_node_without_gpfs_fails(node: Node) -> None:
    (node.root / "gpfs.json").unlink()
    code, said = node.run()
    assert (code, "FileNotFoundError" in said, (node.root / "run").exists()) == (1, True, False)


def test_the_unit_removes_the_file_of_a_run_that_failed() -> None:
    unit = (ROOT / "roles/telemetry/files/drawbridge-gpfs-metrics.service").read_text()
    [words] = re.findall(r"^ExecStopPost=/bin/sh -c '(.*)'$", unit, re.MULTILINE)
    assert words == f'[ "$SERVICE_RESULT" = success ] || rm -f {METRICS}/{GPFS}'
