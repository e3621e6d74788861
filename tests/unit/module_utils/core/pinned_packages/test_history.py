# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.pinned_packages.history import (
    installed_by,
)

OURS = """
Start-Date: 2026-11-24  11:26:26
Commandline: apt-get -q --yes --no-remove -o DPkg::Options::=--force-confold install kubelet=1.36.3-1 containerd=2.3.5-1
Install: containerd:amd64 (2.3.5-1), kubelet:amd64 (1.36.3-1)
End-Date: 2026-11-24  11:26:28
"""
BENS = """
Start-Date: 2026-11-25  10:02:11
Commandline: apt upgrade
Requested-By: ben (1001)
Install: libhwloc15:amd64 (2.12.0-4, automatic)
Upgrade: libc6:amd64 (2.41-12, 2.41-13), kubelet:amd64 (1.36.3-1, 1.36.4-1), containerd-tools:all (1, 2)
End-Date: 2026-11-25  10:02:31
"""
NOBODYS = """
Start-Date: 2026-11-25  06:01:00
Downgrade: containerd:amd64 (2.3.5-1, 2.3.4-1)
End-Date: 2026-11-25  06:01:09
"""
NAMES = ("kubelet", "containerd", "libhwloc15")


def test_the_last_transaction_of_each_package_counts() -> None:
    assert installed_by(OURS + NOBODYS + BENS, NAMES) == {
        "containerd": "2026-11-25 06:01 by root: an unknown command",
        "kubelet": "2026-11-25 10:02 by ben: apt upgrade",
        "libhwloc15": "2026-11-25 10:02 by ben: apt upgrade",
    }


def test_what_drawbridge_installed_last_says_nothing() -> None:
    assert installed_by(BENS + OURS, ("kubelet",)) == {}


def test_a_long_command_is_cut_and_other_text_is_no_history() -> None:
    long = BENS.replace("apt upgrade", "apt install " + "x" * 500)
    assert len(installed_by(long, ("kubelet",))["kubelet"]) < 100
    assert installed_by("no history\n\n\n", NAMES) == {}
