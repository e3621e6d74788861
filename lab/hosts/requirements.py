# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the lab needs of the machine: packages (lab/machine-packages.yml) and one limit of the kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import yaml

from lab.errors import LabError

INOTIFY = "fs.inotify.max_user_instances"
INOTIFY_WANTED = 2048
FILE = Path(__file__).resolve().parent.parent / "machine-packages.yml"


def missing(build_image: bool, vms: bool = False) -> tuple[str, ...]:
    """The packages to install, sorted; those of the image's builder and of virtual machines count only when used."""
    lists: dict[str, dict[str, str]] = yaml.safe_load(FILE.read_text())
    wanted = lists["run"] | (lists["image"] if build_image else {}) | (lists["vm"] if vms else {})
    return tuple(sorted({package for thing, package in wanted.items() if not _present(thing)}))


def _present(thing: str) -> bool:
    return Path(thing).exists() if thing.startswith("/") else shutil.which(thing) is not None


def apt_line(packages: Sequence[str]) -> str:
    """The command that installs them."""
    return f"apt-get install --yes --no-install-recommends {' '.join(packages)}"


def install(packages: Sequence[str]) -> None:
    """Run it; LabError when apt fails or isn't there."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], apt_line(packages).split()):
        try:
            subprocess.run(command, env=environment, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            line = " ".join(command)
            raise LabError(f"{line} failed ({error}): install {' '.join(packages)} by hand, then try again") from error


def raise_inotify(wanted: int = INOTIFY_WANTED, file: Path = Path("/proc/sys/fs/inotify/max_user_instances")) -> bool:
    """Let root have at least `wanted` inotify instances until the machine's next boot; whether that was a change."""
    if int(file.read_text()) >= wanted:
        return False
    file.write_text(str(wanted))
    return True
