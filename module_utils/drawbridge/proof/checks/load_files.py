# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Load checks of directories: fio reads, writes and counts files, on disks of the node and on shared file systems.

fio creates a directory that does not exist and measures the disk below. So each call first compares the mount.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..limits import Derived, NoLimit, file_system
from ..measure import Found, Limit, Measure, Missing
from ..node import ProofDirectory, ProofNode
from ..tools import fio_text
from ..tools.output import first_line, stopped
from .check import ALONE, FILES, LOAD, SAMPLE, TOGETHER, Check, Output, Program, Texts
from .tools import program

MOST_PROCESSES = 16
MIB = 1 << 20
SLOWEST, SPARE_S, MOUNT_S = 4, 30, 30
"""A call is ended when it is this many times slower than its limits; seconds for its start and end; of findmnt."""
FILES_S, FEWEST_FILES, UNLIMITED_FILES = 10, 20, 100
"""Seconds of each job with files at the limit's rate. Files of each process: at least, and without a limit."""
IN_MEMORY = ("tmpfs", "ramfs")
"""Without a disk below there is no cache to bypass, and old kernels refuse O_DIRECT there."""
GUARD = "\n".join(
    (
        "import os, subprocess, sys",
        "path, kind, *argv = sys.argv[1:]",
        "findmnt = ['findmnt', '-T', path, '-n', '-o', 'FSTYPE']",
        "seen = subprocess.run(findmnt, stdout=subprocess.PIPE, text=True).stdout.strip()",
        "if seen != kind:",
        "    sys.exit(f'{path} is on {seen or None}, not on {kind}')",
        "os.execvp(argv[0], argv)",
    )
)
"""Starts a command only on the declared type of mount: otherwise fio fills the disk below. It starts no shell."""
JOBS: Mapping[str, str] = {"filecreate": "file creations", "filestat": "file lookups", "filedelete": "file deletions"}
"""Engines of fio, which are the names of their jobs too, and the names of their measures."""


def processes_of(node: ProofNode) -> int:
    """Processes of fio on a node."""
    return max(1, min(MOST_PROCESSES, node.cores))


def programs_of(node: ProofNode, directory: ProofDirectory) -> list[Program]:
    """The mount, write and read, files. Each call of fio works in a folder of this node and deletes its files."""
    calls = (
        (_transfer(node, directory), _transfer_s(node, directory)),
        (_files(node, directory), _files_s(node, directory)),
    )
    mount = program(("findmnt", "-T", directory.path, "-n", "-o", "FSTYPE,SOURCE"), MOUNT_S)
    folder = f"{directory.path}/drawbridge-proof-{node.name}"
    guard = ("python3", "-I", "-S", "-c", GUARD, directory.path, directory.file_system)
    return [mount, *(program((*guard, *call), seconds, folder) for call, seconds in calls)]


def _fio(node: ProofNode, jobs: Sequence[Sequence[str]], options: Sequence[str]) -> Sequence[str]:
    """A call whose jobs run one after the other on the same files."""
    # otherwise fio writes the files of all jobs before the first one begins
    common = ("--create_on_open=1", "--fallocate=none", "--filename_format=f.$jobnum.$filenum", *options)
    each = ("--stonewall", f"--numjobs={processes_of(node)}", "--group_reporting", *common)
    return ("fio", "--output-format=json", *(option for job in jobs for option in (*job, *each)))


def _transfer(node: ProofNode, directory: ProofDirectory) -> Sequence[str]:
    """Write the files and read them, past the cache of the node."""
    jobs = [
        ("--name=write", "--rw=write", "--end_fsync=1", "--unlink=0"),
        ("--name=read", "--rw=read", "--unlink=1"),
    ]
    direct = 0 if directory.file_system in IN_MEMORY else 1
    options = ("--ioengine=libaio", "--iodepth=8", "--bs=1M", f"--direct={direct}", f"--size={directory.size_mib}M")
    return _fio(node, jobs, options)


def _transfer_s(node: ProofNode, directory: ProofDirectory) -> float:
    size = processes_of(node) * directory.size_mib * MIB / 1e6
    return SPARE_S + SLOWEST * (size / directory.write_mb_s + size / directory.read_mb_s)


def files_of(node: ProofNode, directory: ProofDirectory) -> int:
    """Files of each process: as many as it creates at the limit's rate in a few seconds."""
    wanted = math.ceil(directory.metadata_per_s * FILES_S / processes_of(node)) or UNLIMITED_FILES
    return max(FEWEST_FILES, wanted)


def _files(node: ProofNode, directory: ProofDirectory) -> Sequence[str]:
    """Create files, look them up and delete them."""
    jobs = [(f"--name={engine}", f"--ioengine={engine}") for engine in JOBS]
    options = (f"--nrfiles={files_of(node, directory)}", "--filesize=4k", "--openfiles=1", "--unlink=0")
    return _fio(node, jobs, options)


def _files_s(node: ProofNode, directory: ProofDirectory) -> float:
    rate = directory.metadata_per_s
    once = files_of(node, directory) * processes_of(node) / rate if rate else FILES_S
    return SPARE_S + SLOWEST * len(JOBS) * once


def found_in(node: ProofNode, directory: ProofDirectory, outputs: Sequence[Output]) -> list[Found]:
    """Rates by the outputs of `programs_of`; one Missing for all where the mount is another one."""
    path = directory.path
    if why := mount_fault(directory, outputs[0]):
        return [Missing(f"rates of {path}", node.name, why)]
    _mount, transfer, files = outputs
    rows = [(transfer, way, way, f"{way} bandwidth", f"{way} bandwidth") for way in fio_text.DIRECTIONS]
    rows += [(files, job, "read", "read operations", name) for job, name in JOBS.items()]
    found = [
        replace(it, name=f"{name} of {path}")
        for out, job, direction, rate, name in rows
        for it in fio_text.measures(out.stdout, out.stderr, out.code, node.name, [direction], job)
        if it.name == rate
    ]
    return list(_joined(found))


def mount_fault(directory: ProofDirectory, output: Output) -> str:
    """Why the directory is not on the file system that the intent names; empty if it is."""
    if why := stopped(output.code):
        return f"findmnt: {why}"
    words = first_line(output.stdout).split(maxsplit=1)
    if not words:
        return f"findmnt knows no mount of it: {first_line(output.stderr) or 'does it exist?'}"
    if words[0] != directory.file_system:
        return f"it is on {words[0]} ({' '.join(words[1:]) or 'no source'}), and not on {directory.file_system}"
    return ""


def _joined(found: Sequence[Found]) -> Iterator[Found]:
    """The findings; those that are missing for one reason are one."""
    reasons: dict[str, list[Missing]] = {}
    for it in found:
        if isinstance(it, Missing):
            reasons.setdefault(it.why, []).append(it)
        else:
            yield it
    for why, some in reasons.items():
        yield Missing(", ".join(it.name for it in some), some[0].where, why)


def limit_of(node: ProofNode, measure: Measure) -> Derived:
    """The intent's rate of the directory. Lookups and deletions have none: the client's cache answers many."""
    name, _of, path = measure.name.partition(" of ")
    directory = next(it for it in node.directories if it.path == path)
    if name == JOBS["filecreate"] and directory.metadata_per_s:
        return Limit(directory.metadata_per_s, "ops/s", True, "files that a node must create in a second (intent)")
    if measure.unit == "ops/s":
        return NoLimit("it is shown for comparison", "ops/s")
    return file_system((directory.read_mb_s if name.startswith("read") else directory.write_mb_s) / 1e3)


def _check(name: str, meaning: str, shared: bool, when: str = ALONE) -> Check:
    def directories(node: ProofNode) -> list[ProofDirectory]:
        return [it for it in node.directories if it.shared == shared]

    def applies(node: ProofNode) -> bool:
        return bool(directories(node))

    def programs(node: ProofNode) -> Sequence[Program]:
        return [it for directory in directories(node) for it in programs_of(node, directory)]

    def found(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
        each = len(outputs) // len(directories(node))
        rows = [(one, outputs[at * each : (at + 1) * each]) for at, one in enumerate(directories(node))]
        return [it for one, some in rows for it in found_in(node, one, some)]

    return Check(name, LOAD, meaning, FILES, applies, found, programs, limit=limit_of, when=when)


FILE_CHECKS: tuple[Check, ...] = (
    _check(
        "local disks",
        "A disk of the node is slow, full or not mounted; look at its SMART values, its link and free space.",
        shared=False,
    ),
    _check(
        "file systems",
        "The node reaches a file system slowly, or not at all; look at its mount and at the network to the servers.",
        shared=True,
        when=SAMPLE,
    ),
    _check(
        "file systems together",
        "The servers are too slow for all nodes at once; if one node alone is slow, look at that node.",
        shared=True,
        when=TOGETHER,
    ),
)
