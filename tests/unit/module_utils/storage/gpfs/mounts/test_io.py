# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A real GPFS mount, as the kernel shows it: the emulated one is a bind mount. The rest is in test_mm_mount.py."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mounts.io import LocalMounts
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mounts.plan import Mounts

STATE = """\
mmgetstate::HEADER:version:reserved:reserved:nodeName:nodeNumber:state:quorum:nodesUp:totalNodes:remarks:cnfsState:
mmgetstate::0:1:::gpu01:7:{}:4:7:1122::(undefined):
"""
MOUNT = "90 22 0:52 / {} rw,relatime shared:7 - gpfs {} rw\n"
WANT = Mounts({"fs1": "/gpfs/fs1"})


def mounts(table: str, state: str = "active") -> Mounts:
    def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        assert argv == ["/mm/mmgetstate", "-Y"], "the kernel's table is enough for a real mount"
        return Completed(0, STATE.format(state), "")

    return LocalMounts(Mm(run, "/mm"), WANT, lambda: table).read()


@pytest.mark.parametrize("source", ["fs1", "/dev/fs1"])
def test_the_kernels_table_is_enough(source: str) -> None:
    assert mounts(MOUNT.format("/gpfs/fs1", source)) == WANT


def test_another_device_is_another_file_system() -> None:
    assert mounts(MOUNT.format("/gpfs/fs10", "fs10")) == Mounts({})


def test_another_place_is_shown() -> None:
    assert mounts(MOUNT.format("/mnt", "fs1")) == Mounts({"fs1": "/mnt"})


@pytest.mark.parametrize("state", ["down", "arbitrating", "unknown"])
def test_a_mount_without_its_daemon_is_none(state: str) -> None:
    assert mounts(MOUNT.format("/gpfs/fs1", "fs1"), state) == Mounts({})
