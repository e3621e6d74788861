# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Directories, with fio's real commands where fio is installed."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import load_files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    ALONE,
    SAMPLE,
    TOGETHER,
    Output,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.judge import judge_all
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import (
    ProofDirectory,
    ProofNode,
)

from tests.unit.module_utils.proof.transcripts import changed, near, printed

DISKS, SHARED, TOGETHER_ROW = load_files.FILE_CHECKS
DIRECTORY = ProofDirectory("/scratch", "xfs", 800, 1100, 20000, True, 8)
NODE = ProofNode("gpu01", "h100", cores=4, directories=(DIRECTORY, replace(DIRECTORY, path="/local", shared=False)))
MOUNT = Output("xfs    server:/a b\n", "", 0)
OUTPUTS = [MOUNT, Output(printed("fio_transfer"), "", 0), Output(printed("fio_jobs"), "", 0)]


def found(*outputs: Output) -> list[Found]:
    return load_files.found_in(NODE, DIRECTORY, [*outputs, *OUTPUTS[len(outputs) :]])


def missing(*outputs: Output) -> list[tuple[str, str]]:
    return [(it.name, it.why) for it in found(*outputs) if isinstance(it, Missing)]


def test_rates() -> None:
    assert found() == [
        Measure("read bandwidth of /scratch", near(0.883011368), "GB/s", "gpu01"),
        Measure("write bandwidth of /scratch", near(1.198372571), "GB/s", "gpu01"),
        Measure("file creations of /scratch", near(22471.910112), "ops/s", "gpu01"),
        Measure("file lookups of /scratch", 1000000, "ops/s", "gpu01"),
        Measure("file deletions of /scratch", near(71428.571429), "ops/s", "gpu01"),
    ]


def test_the_intents_rates_are_the_limits() -> None:
    rows, findings = judge_all(NODE, SHARED, SHARED.found(NODE, OUTPUTS, {}))
    assert [row.limit for row in rows] == [0.8, 1.1, 20000, None, None] and not findings
    slow = replace(NODE, directories=(replace(DIRECTORY, read_mb_s=900, metadata_per_s=30000),))
    _rows, [finding] = judge_all(slow, SHARED, SHARED.found(slow, OUTPUTS, {}))
    assert [it.partition(" (")[0] for it in (finding.text, *finding.evidence)] == [
        "gpu01: file creations of /scratch is 22471.9 ops/s, below 30000 ops/s",
        "gpu01: read bandwidth of /scratch is 0.883 GB/s, below 0.9 GB/s",
    ]
    assert finding.look == "the mount, its network path and other load on the servers"
    free = replace(NODE, directories=(replace(DIRECTORY, metadata_per_s=0),))
    assert [row.limit for row in judge_all(free, SHARED, SHARED.found(free, OUTPUTS, {}))[0]][2] is None


@pytest.mark.parametrize(
    ("mount", "why"),
    [
        (Output("ext4 /dev/sda2\n", "", 0), "it is on ext4 (/dev/sda2), and not on xfs"),
        (Output("", "", 1), "findmnt knows no mount of it: does it exist?"),
        (Output("", "", 124), "findmnt: it hung: no result before the time limit (exit code 124)"),
        (Output("xfs2", "", 0), "it is on xfs2 (no source), and not on xfs"),
    ],
)
def test_another_mount_is_one_finding_whatever_fio_measured(mount: Output, why: str) -> None:
    assert found(mount) == [Missing("rates of /scratch", "gpu01", why)]


def test_failures_of_fio() -> None:
    gone = Output("", "", 127)
    rates = "read bandwidth of /scratch, write bandwidth of /scratch"
    files = "file creations of /scratch, file lookups of /scratch, file deletions of /scratch"
    assert missing(MOUNT, gone, gone) == [(f"{rates}, {files}", "the tool is not installed (exit code 127)")]
    full = "fio: pid=1, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device\n"
    failed = Output(full + changed(printed("fio_transfer"), '"error" : 0', '"error" : 28'), "", 2)
    assert missing(MOUNT, failed) == [(rates, f"job write failed with ENOSPC: {full.strip()}")]
    read_only = "fio: pid=0, err=30/file:filesetup.c:150, func=unlink, error=Read-only file system"
    assert missing(MOUNT, Output('{ "jobs" : [ ] }', read_only, 2)) == [(rates, f"the JSON has no jobs: {read_only}")]
    one = changed(printed("fio_transfer"), '"jobname" : "read"', '"jobname" : "other"')
    assert missing(MOUNT, Output(one, "", 0)) == [("read bandwidth of /scratch", "the JSON has no job read")]


def test_rows() -> None:
    assert [(row.when, row.applies(NODE)) for row in load_files.FILE_CHECKS] == [
        *((ALONE, True), (SAMPLE, True), (TOGETHER, True)),
    ]
    assert not SHARED.applies(replace(NODE, directories=NODE.directories[1:]))
    both = replace(NODE, directories=(DIRECTORY, replace(DIRECTORY, path="/home")))
    assert len(SHARED.programs(both)) == 6 and not DISKS.applies(both)
    places = {it.name.rpartition(" ")[2] for it in SHARED.found(both, OUTPUTS * 2, {})}
    assert places == {"/scratch", "/home"}
    assert {it.folder for it in DISKS.programs(NODE)} == {"", "/local/drawbridge-proof-gpu01"}


def test_calls_are_bounded_and_sized_by_the_limits() -> None:
    mount, transfer, files = load_files.programs_of(NODE, DIRECTORY)
    size = 4 * 8 * 1.048576
    assert (mount.seconds, transfer.seconds) == (30, near(30 + 4 * (size / 800 + size / 1100)))
    assert files.seconds == 30 + 4 * 3 * 10 and "--nrfiles=50000" in files.argv
    free = load_files.programs_of(NODE, replace(DIRECTORY, metadata_per_s=0))[2]
    assert "--nrfiles=100" in free.argv and free.seconds == 150
    few = load_files.programs_of(NODE, replace(DIRECTORY, metadata_per_s=1))[2]
    assert "--nrfiles=20" in few.argv and few.seconds == 30 + 4 * 3 * 80
    assert "--direct=1" in transfer.argv
    memory = load_files.programs_of(NODE, replace(DIRECTORY, file_system="tmpfs"))[1]
    assert "--direct=0" in memory.argv and "--direct=1" not in memory.argv
    assert "--numjobs=16" in load_files.programs_of(replace(NODE, cores=192), DIRECTORY)[1].argv
    assert not {"sh", "bash"} & {*transfer.argv, *files.argv, *mount.argv}


def run(directory: ProofDirectory, tmp_path: Path) -> list[Output]:
    outputs: list[Output] = []
    for it in load_files.programs_of(replace(NODE, cores=2), directory):
        done = subprocess.run(it.argv, cwd=tmp_path, capture_output=True, text=True, timeout=60 + it.seconds)
        outputs.append(Output(done.stdout, done.stderr, done.returncode))
    return outputs


def kind_of(path: Path) -> str:
    return subprocess.run(["findmnt", "-T", path, "-n", "-o", "FSTYPE"], capture_output=True, text=True).stdout.strip()


def test_fio_does_not_start_on_another_mount(tmp_path: Path) -> None:
    """It would make the directory and measure the disk below."""
    gone = tmp_path / "gone"
    for path, file_system in ((tmp_path, "nosuchfs"), (gone, kind_of(tmp_path))):
        directory = replace(DIRECTORY, path=str(path), file_system=file_system, metadata_per_s=0, size_mib=1)
        mount, *calls = run(directory, tmp_path)
        assert [(it.stdout, it.code) for it in calls] == [("", 1), ("", 1)]
        assert f"not on {file_system}" in calls[0].stderr and load_files.mount_fault(directory, mount)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_the_real_fio_measures_and_leaves_no_file(tmp_path: Path) -> None:
    directory = replace(DIRECTORY, path=str(tmp_path), file_system=kind_of(tmp_path), metadata_per_s=0, size_mib=1)
    some = load_files.found_in(NODE, directory, run(directory, tmp_path))
    assert [it.name.partition(" of ")[0] for it in some if isinstance(it, Measure)] == [
        *("read bandwidth", "write bandwidth"),
        *load_files.JOBS.values(),
    ]
    assert not list(tmp_path.iterdir())
