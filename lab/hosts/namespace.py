# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's private mount namespace: overlays, network namespace handles and a pure cgroup2 view live and end in it.

A sleeping process in the lab's control group keeps it alive. So the machine's mount table never shows the lab, and
ending the group ends every mount with it.
"""

from __future__ import annotations

import os
import subprocess

from lab.errors import LabError
from lab.hosts.cgroups import Group

# systemd-nspawn refuses to use its run directory unless that is a tmpfs, and /run needn't be one.
SETUP = """
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
  umount -R /sys/fs/cgroup
  mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 /sys/fs/cgroup
fi
for directory in /run/systemd/nspawn /run/netns; do
  mkdir -p "$directory"
  mount -t tmpfs -o mode=0755 lab "$directory"
done
echo ready
exec sleep infinity >/dev/null 2>&1
"""


def keeper(group: Group) -> int | None:
    """The process that keeps the namespace of the lab with this group, or None when there is none."""
    return next(iter(group.child("keeper").pids()), None)


def ensure(group: Group) -> int:
    """The keeper's process id; starts it when there is none."""
    if pid := keeper(group):
        return pid
    procs = group.child("keeper").create().procs
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", f"echo 0 > {procs}\n{SETUP}"]
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    if process.stdout.readline() != "ready\n":
        raise LabError(
            f"the lab's mount namespace could not be made: {process.stderr.read().strip()}; see lab/README.md"
        )
    return process.pid


def enter(pid: int) -> None:
    """Move this process, which must have one thread still, into the keeper's mount namespace."""
    handle = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    try:
        os.setns(handle, os.CLONE_NEWNS)
    finally:
        os.close(handle)
