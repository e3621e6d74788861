# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's Slurm in namespaces of its own, without a lab."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab.hosts.paths import Paths
from lab.image import build

SCENE_S = 600
TOO_LARGE = ("mariadb", "galera", "perl", "libperl", "nfs", "libx")
"""Packages of the lab that Slurm does not need."""
UNPACK = """
mount -t overlay overlay -o "lowerdir=$TREE,upperdir=$WORK/slurm,workdir=$WORK/unpacking" "$WORK/root"
mount --bind "$PACKAGES" "$WORK/root/mnt"
for deb in $DEBS; do chroot "$WORK/root" dpkg-deb -x "/mnt/$deb" /; done
cd "$WORK/root/usr/sbin"
for daemon in slurmctld slurmd slurmstepd; do ln -sf $daemon-wlm $daemon; done
"""


@dataclass(frozen=True)
class Place:
    """The lab's image with Slurm unpacked over it."""

    work: Path
    environment: dict[str, str]

    def run(self, script: str, **environment: object) -> None:
        """Run a shell script as root of namespaces that end with it."""
        argv = ["unshare", "--mount", "--net", "--pid", "--fork", "--uts", "--kill-child", "sh", "-ec", script]
        everything = {**self.environment, **{key: str(value) for key, value in environment.items()}}
        done = subprocess.run(argv, env=everything, capture_output=True, text=True, timeout=SCENE_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def unpacked(work: Path) -> Place:
    """The place, in an empty folder."""
    image = build.ensure(Paths.of().cache, print)
    for name in ("slurm", "unpacking", "root"):
        (work / name).mkdir()
    debs = " ".join(deb.name for deb in image.packages.glob("*.deb") if not deb.name.startswith(TOO_LARGE))
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TREE": str(image.tree), "WORK": str(work)}
    found = Place(work, {**environment, "PACKAGES": str(image.packages), "DEBS": debs})
    found.run(UNPACK)
    return found
