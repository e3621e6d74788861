# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Watch checks of a node's system: clock, memory, disks, file systems.

A node that lacks a part or a tool has no finding about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Callable

from ...nodes.gpus.state import REBOOT
from ..measure import Found, Missing, Remark
from ..node import ProofNode
from ..tools import clock_text, df_text
from ..tools.output import NOT_INSTALLED, absent, not_recognised, stopped
from .check import WATCH, Check, Output, Texts
from .state_rails import unread
from .tools import program

CLOCK, MEMORY, ERRORS, LEFT = "clock", "memory size", "memory errors", "leaked memory"
DISKS, READ_ONLY, SPACE = "disk state", "read-only file systems", "disk space"
IDLE = "/run/drawbridge/health/idle"
"""The file is there while no job runs. What a job itself uses is no fault."""
MOST_OFF_S, SETTLED_S = 1.0, 600
"""Seconds that a clock may be wrong, and after boot until it must be set."""
SHORT, FREE = 0.02, 0.10
"""Share of the class's memory that may be missing, and of a node's memory that must be left without a job."""
FULL = 95
"""Percent of a file system that may be in use, in bytes and in inodes."""
SYSTEM, OF_JOBS = ("/", "/var"), ("/tmp", "/dev/shm")
"""Directories that must not fill up: of the system, and those that a job may fill while it runs."""
FALL_READ_ONLY = ("ext2", "ext3", "ext4", "xfs", "btrfs")
"""File systems that the kernel stops writing to after an error. Others are read-only because they were made so."""
SECONDS = 10
_UPTIME, _MEMINFO, _MOUNTS = "/proc/uptime", "/proc/meminfo", "/proc/self/mounts"
_EDAC, _NVME = "/sys/devices/system/edac/mc/mc*/ue_count", "/sys/class/nvme/nvme*/state"


def _always(node: ProofNode) -> bool:
    return True


def _missing(name: str, node: ProofNode, output: Output) -> Missing:
    why = stopped(output.code) or not_recognised(output.code, output.stdout, output.stderr)
    return Missing(name, node.name, why)


def _clock(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    """By chrony where it answers, or else by systemd. A clock that only lost its source is right for hours."""
    uptime = re.match(r"\d+", texts.get(_UPTIME, ""))
    if uptime and int(uptime[0]) < SETTLED_S:
        return []
    readers = zip(outputs, (clock_text.chrony, clock_text.systemd))
    output, read = next((it for it in readers if not absent(it[0].code)), (None, None))
    if output is None or read is None:
        return []
    try:
        clock = read(output.stdout)
    except ValueError:
        return [_missing(CLOCK, node, output)]
    if abs(clock.offset_s) > MOST_OFF_S:
        return [Remark(CLOCK, node.name, f"it is {abs(clock.offset_s):.1f} s off")]
    return [] if clock.synchronised else [Remark(CLOCK, node.name, "it follows no other clock", warning=True)]


def _kib(texts: Texts) -> dict[str, int]:
    """Sizes of /proc/meminfo."""
    found = re.findall(r"^(\w+):\s+(\d+) kB$", texts.get(_MEMINFO, ""), re.MULTILINE)
    return {name: int(value) for name, value in found}


def _unread(name: str, node: ProofNode, path: str, texts: Texts) -> list[Found]:
    """The finding about a file with another text; none if the node has no such file."""
    return [unread(name, node.name, path, texts)] if path in texts else []


def _memory(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    size = _kib(texts).get("MemTotal")
    if size is None:
        return _unread(MEMORY, node, _MEMINFO, texts)
    if size >= node.memory_mib * 1024 * (1 - SHORT):
        return []
    return [Remark(MEMORY, node.name, f"it has {size // 1024} MiB, the intent says {node.memory_mib} MiB")]


def _leaked(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    """Huge pages are reserved, and not leaked."""
    if IDLE not in texts:
        return []
    kib = _kib(texts)
    if not kib.keys() >= {"MemTotal", "MemAvailable"}:
        return _unread(LEFT, node, _MEMINFO, texts)
    total, left = (kib["MemTotal"] - kib.get("Hugetlb", 0)) // 1024, kib["MemAvailable"] // 1024
    why = f"{left} MiB of {total} MiB are left, although no job runs"
    return [Remark(LEFT, node.name, why)] if left < total * FREE else []


def _of_files(name: str, pattern: str, known: str, good: str, words: str, ends: str = "") -> Callable[..., list[Found]]:
    """The check of each file of this pattern. Its text must match `known` and be `good`."""
    paths = re.compile(re.escape(pattern).replace(r"\*", "[^/]*"))

    def found(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
        seen: list[Found] = []
        for path in sorted(it for it in texts if paths.fullmatch(it)):
            text, where = texts[path].strip(), f"{node.name} {path.split('/')[-2]}"
            if not re.fullmatch(known, text):
                seen.append(unread(name, where, path, texts))
            elif text != good:
                seen.append(Remark(name, where, words.format(text), ends=ends))
        return seen

    return found


def _mounts(texts: Texts) -> Mapping[str, tuple[str, list[str]]]:
    """Type and options by directory. The last mount counts: it covers the others."""
    rows = [line.split() for line in texts.get(_MOUNTS, "").splitlines()]
    return {row[1]: (row[2], row[3].split(",")) for row in rows if len(row) > 3}


def _read_only(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    mounts = _mounts(texts)
    if not mounts:
        return _unread(READ_ONLY, node, _MOUNTS, texts)
    rows = [(path, *mounts[path]) for path in SYSTEM if path in mounts]
    return [
        Remark(READ_ONLY, f"{node.name} {path}", f"the kernel writes no more to it ({kind})")
        for path, kind, options in rows
        if kind in FALL_READ_ONLY and "ro" in options
    ]


def _space(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    """A directory that does not exist has no row. A read-only file system may be full."""
    output, mounts = outputs[0], _mounts(texts)
    if output.code == NOT_INSTALLED:
        return []
    rows = {} if stopped(output.code) else df_text.used(output.stdout)
    if not rows:
        return [_missing(SPACE, node, output)]
    return [
        Remark(SPACE, f"{node.name} {path}", f"{percent} % of its {what} are in use")
        for path, shares in rows.items()
        if (IDLE in texts or path not in OF_JOBS) and "ro" not in mounts.get(path, ("", []))[1]
        for what, percent in shares.items()
        if percent > FULL
    ]


def _row(
    name: str,
    meaning: str,
    found: Callable[[ProofNode, Sequence[Output], Texts], list[Found]],
    files: Sequence[str],
    programs: Sequence[Sequence[str]] = (),
    applies: Callable[[ProofNode], bool] = _always,
) -> Check:
    own = [program(argv, SECONDS) for argv in programs]
    return Check(name, WATCH, meaning, "System", applies, found, lambda node: own, lambda node: files)


SYSTEM_CHECKS: tuple[Check, ...] = (
    _row(
        CLOCK,
        "The clock is wrong, so munge will refuse credentials: look at the time service and at its servers.",
        _clock,
        (_UPTIME,),
        (clock_text.CHRONY, clock_text.SYSTEMD),
    ),
    _row(
        MEMORY,
        "Memory is missing: look for a module that failed or that the BIOS has disabled.",
        _memory,
        (_MEMINFO,),
        applies=lambda node: node.memory_mib > 0,
    ),
    _row(
        ERRORS,
        "Memory of the node had errors that could not be corrected: replace the module if they come back.",
        _of_files(ERRORS, _EDAC, r"\d+", "0", "{} errors since boot that could not be corrected", ends=REBOOT),
        (_EDAC,),
    ),
    _row(
        LEFT,
        "Memory stays in use after the last job: look for its processes and for files in /dev/shm.",
        _leaked,
        (IDLE, _MEMINFO),
    ),
    _row(
        DISKS,
        "The kernel has lost a disk or resets it: look at the kernel's log, then reseat or replace the disk.",
        _of_files(DISKS, _NVME, r"[a-zA-Z][a-zA-Z ()]*", "live", "it is {}, not live"),
        (_NVME,),
    ),
    _row(
        READ_ONLY,
        "The kernel writes no more to a file system, mostly after an error of its disk: look at the kernel's log.",
        _read_only,
        (_MOUNTS,),
    ),
    _row(
        SPACE,
        "A file system of the node is full: delete what jobs have left there.",
        _space,
        (IDLE, _MOUNTS),
        (("df", f"--output={df_text.COLUMNS}", "--", *SYSTEM, *OF_JOBS),),
    ),
)
