# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.view import (
    gpfs_clients,
    gpfs_mounts,
)

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
GPFS = part("gpfs", SITE["drawbridge_gpfs"])


def test_every_node_is_a_client_and_the_admin_is_not_made_one() -> None:
    assert gpfs_clients(GPFS, part("nodes", SITE["drawbridge_nodes"])) == {
        "cluster": "drawbridge-lab.nsd1",
        "nodes": ["gpu01", "gpu02", "gpu03", "gpu04"],
        "filesystems": [{"device": "fs1", "mount": "/gpfs/fs1"}],
    }


def test_what_a_node_mounts_names_no_other_node() -> None:
    assert gpfs_mounts(GPFS) == {
        "cluster": "drawbridge-lab.nsd1",
        "filesystems": [{"device": "fs1", "mount": "/gpfs/fs1"}],
    }
