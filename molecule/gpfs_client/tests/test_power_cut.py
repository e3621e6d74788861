# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A power cut, and a boot into a kernel without GPFS's modules. No administrator runs Ansible meanwhile."""

from __future__ import annotations

from lab.hosts.paths import Paths
from tests.stack import lab, ssh, until

testinfra_hosts = [f"ssh://gpu01?ssh_config={Paths.of().ssh_config}&timeout=60"]

EXTRA = "/lib/modules/$(uname -r)/extra"
FINDING = "/etc/drawbridge/slurm/health.d/30-gpfs"


def boot() -> None:
    """Take the power from the node and give it back."""
    ssh("gpu01", "sync")
    lab("power-cut", "gpu01")
    lab("up", "gpu01")


def active(unit: str) -> str:
    return ssh("gpu01", f"systemctl is-active {unit} || true")


def test_after_a_power_cut_the_mount_exists_before_slurmd_starts() -> None:
    """The unit that stands for slurmd fails if it starts without the mount."""
    boot()
    until(lambda: active("slurmd.service") in ("active", "failed"), 120, "slurmd has started")
    assert active("slurmd.service") == active("drawbridge-gpfs.service") == "active"
    assert ssh("gpu01", f"{FINDING}; echo $?") == "0"


def test_a_kernel_without_modules_is_a_finding_and_the_node_recovers_when_they_exist() -> None:
    ssh("gpu01", f"mv {EXTRA} {EXTRA}.away")
    boot()
    until(lambda: found() != "", 360, "a finding")
    assert active("drawbridge-gpfs.service") != "active"
    ssh("gpu01", f"mv {EXTRA}.away {EXTRA}")
    until(lambda: active("drawbridge-gpfs.service") == "active", 180, "the unit tries again and mounts")
    assert ssh("gpu01", f"{FINDING}; echo $?") == "0"
    assert " /gpfs/fs1 " in ssh("gpu01", "cat /proc/self/mountinfo")


def found() -> str:
    """What slurm-health would drain the node for."""
    return ssh("gpu01", f"{FINDING} || true")
