# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run the numbered parts of one of Slurm's scripts: slurm-dispatch [--timeout SECONDS] [--part NAME=PATH]... KIND.

KIND is prolog, epilog, prolog_slurmctld or epilog_slurmctld. Its parts are the files NN-name of KIND.d, and the
site's programs that --part names. A prolog runs them upwards and ends with the first failure. An epilog runs all of
them downwards and ends with the worst code, because clean-up must run even after a failure. Slurm's own script
directories do neither, and an empty one fails every job.

After a failure on a node, Slurm drains it with a fixed text. So the dispatcher drains the node first, with a reason
that names part, job and code. Slurm and the dispatcher keep the reason of an existing drain.

Slurm gives these scripts neither PATH nor HOME. slurmd logs a part's output if the script fails. Each part writes one
line to the system log.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
import syslog
import time
from functools import partial
from pathlib import Path

PARTS = Path("/etc/drawbridge/slurm")
LOCK = Path("/run/drawbridge/slurm-dispatch.lock")
KINDS = ("prolog", "epilog", "prolog_slurmctld", "epilog_slurmctld")
NAME = re.compile(r"[0-9]{2}-[A-Za-z0-9_-]+")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CANNOT_RUN, TIMED_OUT, ENDED = 126, 124, 143
CODES = {CANNOT_RUN: "can't be run", TIMED_OUT: "did not end in time"}
GRACE_S = 5.0
WAIT_S, LOOK_S = 60.0, 0.1
ANSWER_S = 30.0
TRIES, PAUSE_S = 3, 2.0
"""Slurm's own clients give up after ten seconds."""
UNAVAILABLE = ("drain", "down", "fail")


def parts(root: Path, kind: str, own: dict[str, Path]) -> list[tuple[str, Path]]:
    """Names and programs in the order of running; other names, such as a package manager's backups, are ignored.

    `own` are programs of the site by the names that they have as parts.
    """
    folder = root / f"{kind}.d"
    found = {path.name: path for path in folder.iterdir() if NAME.fullmatch(path.name)} if folder.is_dir() else {}
    return sorted({**found, **own}.items(), reverse=kind.startswith("epilog"))


def named(text: str) -> tuple[str, Path]:
    """The value of --part. Raises ValueError."""
    name, equals, path = text.partition("=")
    if not (equals and NAME.fullmatch(name) and path.startswith("/")):
        raise ValueError(text)
    return name, Path(path)


def environment() -> dict[str, str]:
    """Slurm's variables, and HOME."""
    return {"HOME": "/", **os.environ}


def run(part: Path, timeout_s: float) -> int:
    """Run one part with a time limit. It stays in this process group, so it ends when Slurm kills the group."""
    try:
        child = subprocess.Popen([str(part)], stdin=subprocess.DEVNULL, env=environment())
    except OSError as err:
        print(f"{part}: {err.strerror}", file=sys.stderr)
        return CANNOT_RUN
    try:
        code = child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        print(f"{part}: no end after {timeout_s:g} s", file=sys.stderr)
        end(child)
        return TIMED_OUT
    return code if code >= 0 else 128 - code


def end(child: subprocess.Popen[bytes]) -> None:
    """Send SIGTERM to the process group except this process, then kill the part."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    try:
        child.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    signal.signal(signal.SIGTERM, before)


def on_sigterm(_signal: int, _frame: object) -> None:
    """Slurm's own limit: end the running part too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    os._exit(ENDED)


def log(kind: str, part: str, code: int, seconds: float) -> None:
    """Write one line to the system log."""
    job = os.environ.get("SLURM_JOB_ID", "-")
    level = syslog.LOG_INFO if code == 0 else syslog.LOG_ERR
    syslog.syslog(level, f"job={job} kind={kind} part={part} rc={code} seconds={seconds:.2f}")


def drain(kind: str, part: str, code: int) -> None:
    """Drain this node with a reason that people can act on, unless it is drained or down already."""
    node = os.environ.get("SLURMD_NODENAME")
    if not node:
        return  # on the controller: the failure belongs to no node
    job = os.environ.get("SLURM_JOB_ID", "-")
    ended = CODES.get(code, f"ended with code {code}")
    reason = f"drawbridge: {kind} part {part} {ended} in job {job}; journalctl -t slurm-dispatch"
    try:
        state = query("sinfo", "-h", "-n", node, "-o", "%T")
        if not state.lower().startswith(UNAVAILABLE):
            query("scontrol", "update", f"nodename={node}", "state=drain", f"reason={reason}")
    except (OSError, subprocess.SubprocessError) as err:
        syslog.syslog(syslog.LOG_ERR, f"job={job} kind={kind} part={part} reason not set: {err}")


def query(*argv: str) -> str:
    """Slurm's answer after a few tries. Raises OSError or SubprocessError."""
    call = partial(subprocess.check_output, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    for _attempt in range(TRIES - 1):
        with contextlib.suppress(subprocess.SubprocessError):
            return str(call(argv, timeout=ANSWER_S, env=environment()))
        time.sleep(PAUSE_S)
    return str(call(argv, timeout=ANSWER_S, env=environment()))


def take_lock(lock: Path, wait_s: float) -> None:
    """Hold the shared lock until this process ends: playbooks don't restart slurmd while a script holds it.

    Only root can open the file, because any process that can open it could lock it. The wait for the lock is short.
    """
    try:
        lock.parent.mkdir(mode=0o755, exist_ok=True)
        handle = os.open(lock, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.fchmod(handle, 0o600)
    except PermissionError:
        return  # on the controller: Slurm's own user, whose scripts a restart may interrupt
    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            return fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        time.sleep(LOOK_S)
    syslog.syslog(syslog.LOG_ERR, f"another process holds {lock} for {wait_s:g} s: going on without it")


def main() -> int:
    """Run the parts and return the script's exit code."""
    parser = argparse.ArgumentParser(prog="slurm-dispatch")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS", help="limit of each part")
    parser.add_argument("--part", type=named, action="append", default=[], metavar="NAME=PATH", help="a further part")
    parser.add_argument("--parts", type=Path, default=PARTS, metavar="DIRECTORY", help="where the KIND.d are")
    parser.add_argument("--lock", type=Path, default=LOCK, metavar="FILE", help="held shared while parts run")
    parser.add_argument("--wait", type=float, default=WAIT_S, metavar="SECONDS", help="for the lock; then without it")
    parser.add_argument("--path", default=PATH, metavar="PATH", help="PATH of the programs, instead of slurmd's")
    parser.add_argument("kind", choices=KINDS)
    options = parser.parse_args()
    os.environ["PATH"] = options.path
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, on_sigterm)
    syslog.openlog("slurm-dispatch", syslog.LOG_PID, syslog.LOG_DAEMON)
    take_lock(options.lock, options.wait)
    worst = 0
    for name, part in parts(options.parts, options.kind, dict(options.part)):
        begun = time.monotonic()
        code = run(part, options.timeout)
        log(options.kind, name, code, time.monotonic() - begun)
        if code and not worst:
            drain(options.kind, name, code)
        worst = max(worst, code)
        if code and options.kind.startswith("prolog"):
            break
    return worst


if __name__ == "__main__":
    sys.exit(main())
