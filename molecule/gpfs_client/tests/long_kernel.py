# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A boot into a kernel without GPFS's modules. No administrator runs Ansible meanwhile."""

from __future__ import annotations

from tests.stack import ssh, until

from .test_power_cut import FINDING, active, boot

EXTRA = "/lib/modules/$(uname -r)/extra"


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
