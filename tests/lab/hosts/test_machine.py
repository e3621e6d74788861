# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from lab.hosts import machine

MOUNTS = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw
90 27 0:50 / /var/lib rw,relatime shared:5 - overlay overlay rw,lowerdir=/a
91 90 8:1 /x /var/lib/lab rw,relatime - xfs /dev/sdb rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home", "ext4"),
        ("/var/lib", "overlay"),
        ("/var/lib/other", "overlay"),
        ("/var/lib/lab/1", "xfs"),
        ("/var/library", "ext4"),
    ],
)
def test_the_deepest_mount_decides(path, kind):
    assert machine.filesystem(Path(path), MOUNTS) == kind


@pytest.mark.parametrize(
    ("release", "version"), [("6.12.43+deb13-amd64", (6, 12)), ("5.4", (5, 4)), ("strange", (0, 0))]
)
def test_kernel_versions(release, version):
    assert machine.kernel(release) == version


def test_available_memory_is_in_bytes():
    assert machine.available("MemTotal: 99 kB\nMemAvailable:   22417000 kB\n") == 22417000 * 1024
    assert machine.available("MemTotal: 99 kB\n") == 0


def test_looking_changes_nothing_and_knows_this_machine(paths):
    facts = machine.look(paths, image_cached=True, lab_alive=False)
    assert "lo" in facts.addresses
    assert facts.memory_free > 0
    assert not facts.lab_left
    assert not paths.base.exists()


def test_remains_of_a_lab_are_seen(paths):
    paths.state.mkdir(parents=True)
    assert machine.look(paths, image_cached=True, lab_alive=False).lab_left
