# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import storage_view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.unit.module_utils.site.test_refused import site

BOTH = load(site("example-existing"))


def test_a_node_of_a_site_with_both_kinds_has_the_options_of_both_modules() -> None:
    assert BOTH.gpfs and BOTH.nfs
    gpfs = storage_view.gpfs_client(BOTH.fabric, BOTH.nodes, BOTH.gpfs, "dgx01")
    assert [(it["device"], it["mount"]) for it in gpfs["mounts"]["filesystems"]] == [("fs1", "/gpfs/fs1")]
    nfs = storage_view.nfs_client(BOTH.nodes, BOTH.nfs)["mounts"]
    assert (nfs["manager"], nfs["package"], [it["mount"] for it in nfs["mounts"]]) == ("apt", "nfs-common", ["/home"])


def test_all_kinds_are_one_list_of_plain_data() -> None:
    found = storage_view.filesystems(BOTH.gpfs, BOTH.nfs)
    assert [(it["kind"], it["mount"]) for it in found] == [("gpfs", "/gpfs/fs1"), ("nfs", "/home")]
