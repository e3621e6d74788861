# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The disks of the emulated Storage Scale: a process in the lab's mount namespace, which mounts filesets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lab.errors import LabError
from lab.hosts.cgroups import Group
from lab.hosts.paths import REPOSITORY, Paths

MODULE = "lab.emulators.storage.gpfs.disk_server"


def ensure(group: Group, paths: Paths, fresh: bool) -> None:
    """Start the process unless it lives. In a fresh lab hosts see mounts below the shared folder from now on.

    Hosts that are running see it only if they were booted after that.
    """
    if fresh:
        paths.shared.mkdir(parents=True, exist_ok=True)
        _run("mount", "--bind", str(paths.shared), str(paths.shared))
        _run("mount", "--make-shared", str(paths.shared))
    if group.populated() or not _mounted(paths):
        return
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    group.create().start([sys.executable, "-m", MODULE, str(paths.shared)], environment, paths.state / "disks.log")


def leave(paths: Paths) -> None:
    """Take the shared folder's mounts out of this process's namespace, so that the folder can be removed."""
    if _mounted(paths):
        _run("umount", "--lazy", "--recursive", str(paths.shared))


def _mounted(paths: Paths) -> bool:
    return str(paths.shared) in [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(command)} said {done.stderr.strip()}: run lab down, then lab up")
