# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Debian 11, whose Python is 3.9: a tree for machines that have no such Python, built once for all checkouts."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.hosts.requirements import apt_line, missing
from lab.image.build import why

SUITE = "bullseye"
TREE = f"debian-{SUITE}"
ENTER = Path(__file__).parent / "debian-python"
SLIM = Path(__file__).parents[2] / "lab/image/files/etc/dpkg/dpkg.cfg.d/lab"


def python() -> Path:
    """The program that replaces that Python, its tree beside the lab's images. Raises LabError."""
    if os.geteuid():
        raise LabError("only root can build and enter a Debian tree: run this as root")
    tree = Paths.of().cache / TREE
    tree.parent.mkdir(parents=True, exist_ok=True)
    with tree.with_name(f"{TREE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not tree.is_dir():
            if packages := missing(build_image=True):
                raise LabError(f"a Debian tree can't be built without {', '.join(packages)}: {apt_line(packages)}")
            partial = tree.with_name(f"{TREE}.partial")
            _build(partial)
            partial.rename(tree)
    return ENTER


def _build(partial: Path) -> None:
    """Have mmdebstrap make the tree; LAB_MIRROR names a package mirror other than its own choice."""
    shutil.rmtree(partial, ignore_errors=True)
    print(f"a Debian {SUITE} tree is built for its Python (once; about a minute)", flush=True)
    argv = ["mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory", "--include=python3"]
    # releases that are no longer maintained have dates of long ago; their signatures hold
    argv += ['--aptopt=Acquire::Check-Valid-Until "false"', '--aptopt=Acquire::Languages "none"', f"--dpkgopt={SLIM}"]
    argv += [SUITE, str(partial), *filter(None, [os.environ.get("LAB_MIRROR")])]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise LabError(f"a Debian {SUITE} tree could not be built, {why(done.stderr)}")
    (partial / "etc/hosts").write_text("127.0.0.1 localhost\n")  # an installer's work, which every machine has
