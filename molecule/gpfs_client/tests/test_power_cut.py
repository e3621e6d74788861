# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A power cut. No administrator runs Ansible meanwhile."""

from __future__ import annotations

from lab.hosts.paths import Paths
from tests.stack import lab, ssh, until

testinfra_hosts = [f"ssh://gpu01?ssh_config={Paths.of().ssh_config}&timeout=60"]

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
