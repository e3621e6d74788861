# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Control groups in which a slurmd without systemd confines the devices of jobs, on a machine with cgroup v1 or v2."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass

GROUP = "drawbridge-gpu-test"
"""The daemons' group under cgroup v2, below the root of this machine's hierarchy or of this container's."""
CONTROLLERS = ("devices", "freezer")
"""What Slurm needs of cgroup v1."""
TRIES, PAUSE_S = 50, 0.2
ENTER_V2 = f"""
export R
mount -t cgroup2 cgroup2 "$R/mnt"
mkdir -p "$R/mnt/{GROUP}"
echo 0 > "$R/mnt/{GROUP}/cgroup.procs"
umount "$R/mnt"
exec unshare --cgroup sh -ec '
mount -t cgroup2 cgroup2 "$R/sys/fs/cgroup"
mkdir -p "$R/sys/fs/cgroup/init"
echo 0 > "$R/sys/fs/cgroup/init/cgroup.procs"
exec chroot "$R" sh -e /out/script'
"""
"""A group with processes of its own can have no controllers, so all are in a group below."""
ENTER_V1 = f"""
mount -t tmpfs tmpfs "$R/sys/fs/cgroup"
for kind in {" ".join(CONTROLLERS)}; do
  mkdir "$R/sys/fs/cgroup/$kind"
  mount -t cgroup -o "$kind" cgroup "$R/sys/fs/cgroup/$kind"
done
exec chroot "$R" sh -e /out/script
"""
REMOVE = 'mount -t {kind} cgroup /mnt; [ ! -e "/mnt/$1" ] || find "/mnt/$1" -depth -type d -exec rmdir {{}} +'


@dataclass(frozen=True)
class Confinement:
    """How devices are confined."""

    enter: str
    """Shell lines that start /out/script in the root $R."""
    lines: tuple[str, ...]
    """Lines of cgroup.conf beside Drawbridge's ConstrainDevices."""
    mounts: tuple[str, ...] = ()
    """Types and options of the hierarchies in which the daemons leave groups."""
    group: str = ""
    """The group there."""
    unconfined: str = ""
    """Why devices can't be confined here; empty if they can."""

    def remove(self) -> None:
        """Remove the groups, after their processes have ended."""
        for kind in self.mounts:
            argv = ["unshare", "--mount", "sh", "-ec", REMOVE.format(kind=kind), "sh", self.group]
            done, tries = subprocess.run(argv, capture_output=True, text=True, check=False), 1
            while done.returncode and tries < TRIES:
                time.sleep(PAUSE_S)
                done, tries = subprocess.run(argv, capture_output=True, text=True, check=False), tries + 1
            assert not done.returncode, f"control groups {self.group} are left: {done.stderr}"


def confinement(groups: str, node: str) -> Confinement:
    """How this machine can confine devices, by the text of /proc/self/cgroup. `node` is the name of slurmd's node."""
    names = {name for line in groups.splitlines() for name in line.split(":")[1].split(",")}
    if names == {""}:
        return Confinement(ENTER_V2, ("CgroupPlugin=cgroup/v2", "IgnoreSystemd=yes"), ("cgroup2",), GROUP)
    if names.issuperset(CONTROLLERS):
        mounts = tuple(f"cgroup -o {kind}" for kind in CONTROLLERS)
        return Confinement(ENTER_V1, ("CgroupPlugin=cgroup/v1",), mounts, f"slurm_{node}")
    why = "this machine has neither cgroup v2 alone nor the controllers devices and freezer of cgroup v1"
    return Confinement('exec chroot "$R" sh -e /out/script\n', (), unconfined=why)
