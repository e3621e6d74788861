# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.pinned_packages.history import (
    installed_by,
)

OURS = """
Start-Date: 2026-11-24  11:26:26
Commandline: apt-get -q --yes --no-remove -o DPkg::Options::=--force-confold install kubelet=1.36.3-1
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
FAILED = BENS.replace("2026-11-25", "2026-11-26").replace("End-Date", "Error: Sub-process returned an error\nEnd-Date")
ANSIBLES = """
Start-Date: 2026-11-25  10:02:11
Commandline: /usr/bin/apt-get -y -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold install kubelet
Upgrade: kubelet:amd64 (1.36.3-1, 1.36.4-1)
"""
BEN, NOBODY = "2026-11-25 by ben: apt upgrade", "2026-11-25 by root: an unknown command"
HAS = {"kubelet": "1.36.4-1", "containerd": "2.3.4-1", "libhwloc15": "2.12.0-4"}


@pytest.mark.parametrize(
    ("history", "versions", "found"),
    [
        (OURS + NOBODYS + BENS, HAS, {"containerd": NOBODY, "kubelet": BEN, "libhwloc15": BEN}),
        (OURS + BENS, {"kubelet": "1.37.0-1"}, {}),
        (BENS + OURS, {"kubelet": "1.36.3-1"}, {}),
        (FAILED, HAS, {}),
        ("no history\n\n\n", HAS, {}),
    ],
    ids=["the last that brought it", "not by apt", "by Drawbridge", "failed", "other text"],
)
def test_the_transaction_that_brought_the_version_counts(
    history: str, versions: dict[str, str], found: dict[str, str]
) -> None:
    assert installed_by(history, versions) == found


def test_another_task_of_ansible_is_named() -> None:
    assert installed_by(ANSIBLES, HAS)["kubelet"].startswith(
        "2026-11-25 by root: /usr/bin/apt-get -y -o Dpkg::Options::="
    )


def test_a_long_command_is_cut() -> None:
    long = BENS.replace("apt upgrade", "apt install " + "x" * 500)
    assert len(installed_by(long, HAS)["kubelet"]) < 100
