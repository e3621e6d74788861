# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Control groups: what the lab starts lives in one tree of them, so that one write ends all of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.errors import LabError

KILL_SECONDS = 300


def hierarchy(mountinfo: str) -> Path | None:
    """Where cgroup2 is mounted, from the text of /proc/self/mountinfo (proc(5)); None when nowhere."""
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            return Path(before.split()[4])
    return None


class Group:
    """One control group, named relative to the hierarchy's root in the present mount namespace."""

    def __init__(self, name: Path, root: Path | None = None) -> None:
        """`root` is the mount point of cgroup2; found when not given."""
        root = root or hierarchy(Path("/proc/self/mountinfo").read_text())
        if root is None:
            raise LabError(
                "cgroup2 is mounted nowhere, but the lab ends its hosts through it: mount it on /sys/fs/cgroup"
            )
        self.name = name
        self.root = root
        self.path = root / name

    @property
    def procs(self) -> Path:
        """The file through which a process enters the group."""
        return self.path / "cgroup.procs"

    def child(self, name: str) -> Group:
        """The group below this one."""
        return Group(self.name / name, self.root)

    def exists(self) -> bool:
        """Whether anyone made it."""
        return self.path.is_dir()

    def create(self) -> Group:
        """Make it and its parents, handing down every controller that the machine's hierarchy has."""
        self.path.mkdir(parents=True, exist_ok=True)
        for group in reversed(self.path.parents):
            if group == self.root or self.root in group.parents:
                _hand_down(group)
        return self

    def start(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        """Start a command that outlives this process; returns once it is in the group, where `end` finds it."""
        argv = ["sh", "-c", 'echo 0 > "$0" && echo && exec "$@" >> "$LOG" 2>&1', str(self.procs), *command]
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**environment, "LOG": str(log)},
            start_new_session=True,
        )
        assert process.stdout is not None
        with process.stdout:
            if process.stdout.readline() != b"\n":
                raise LabError(f"{command[0]} could not enter {self.path}: run lab down, then lab up")

    def enter(self) -> None:
        """Move this process, and so what it starts from now on, into the group."""
        with self.procs.open("r+") as procs:
            procs.write(str(os.getpid()))

    def pids(self) -> list[int]:
        """Processes directly in this group."""
        try:
            return [int(pid) for pid in self.procs.read_text().split()]
        except OSError:
            return []

    def populated(self) -> bool:
        """Whether a process lives here or below."""
        try:
            return "populated 1" in (self.path / "cgroup.events").read_text()
        except OSError:
            return False

    def end(self) -> None:
        """Kill every process in and below, wait for the kernel to bury them, and remove the groups."""
        if not self.exists():
            return
        self._kill()
        deadline = time.monotonic() + KILL_SECONDS
        while self.exists():
            self._remove()
            if self.exists():
                if time.monotonic() > deadline:
                    raise LabError(
                        f"{self.path} still has processes after {KILL_SECONDS} s of killing: see ps and try again"
                    )
                time.sleep(0.02)
                # what has come in meanwhile, as a process that was on its way through `start`; it may just have ended
                with contextlib.suppress(OSError):
                    self._kill()

    def _kill(self) -> None:
        (self.path / "cgroup.kill").write_text("1")

    def _remove(self) -> None:
        """Remove the groups that are empty by now, deepest first."""
        below = sorted((path for path in self.path.rglob("*") if path.is_dir()), reverse=True)
        for path in (*below, self.path):
            with contextlib.suppress(OSError):
                path.rmdir()


def own(text: str) -> Path:
    """The cgroup2 group of the process whose /proc/PID/cgroup has this text, relative to the hierarchy's root.

    A process that was sent into a container from outside sees its group above the root: then the root has to do.
    """
    lines = [line.removeprefix("0::/") for line in text.splitlines() if line.startswith("0::/")]
    return Path() if not lines or ".." in lines[0] else Path(lines[0])


def controllers(root: Path) -> frozenset[str]:
    """Controllers with which guests can constrain their own services; a v1-hybrid machine has none of them to give."""
    return frozenset((root / "cgroup.controllers").read_text().split()) & {"cpu", "cpuset", "memory", "pids", "io"}


def _hand_down(group: Path) -> None:
    """Enable one by one: a controller that some other manager holds back must not cost the rest."""
    for controller in (group / "cgroup.controllers").read_text().split():
        with contextlib.suppress(OSError):
            (group / "cgroup.subtree_control").write_text(f"+{controller}")
