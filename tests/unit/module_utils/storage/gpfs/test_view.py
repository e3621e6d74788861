# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from copy import deepcopy
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs import view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.config.view import (
    TrafficClass,
)

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES = part("nodes", SITE["drawbridge_nodes"])


def gpfs(**more: Any) -> Any:
    return part("gpfs", {**deepcopy(SITE["drawbridge_gpfs"]), **more})


class Fabric:
    """A fabric without a class of storage traffic."""

    class Roce:
        """Its lossless class."""

        dscp = 26

    roce: TrafficClass = Roce()
    storage: TrafficClass | None = None


def test_without_software_and_tuning_a_node_only_mounts() -> None:
    found = view.gpfs_client(None, NODES, gpfs(), None, "gpu01")
    assert (found["mounts"]["settings"], found["software"]["packages"]) == ({}, {})
    assert view.gpfs_members(None, NODES, gpfs())["classes"] == []


def test_packages_have_one_version_and_only_what_compiles_needs_compilers() -> None:
    wanted = {"version": "5.2.3-0", "edition": "dm"}
    built = view.gpfs_client(None, NODES, gpfs(software=wanted), None, "gpu01")["software"]
    assert built["packages"]["gpfs.gpl"] == built["packages"]["gpfs.license.dm"] == "5.2.3-0"
    assert built["packages"]["gpfs.gskit"] == "" and "make" in built["compilers"]
    ready = view.gpfs_client(None, NODES, gpfs(software={**wanted, "kernel_modules": "prebuilt"}), None, "gpu01")
    assert "gpfs.gpl" not in ready["software"]["packages"] and ready["software"]["compilers"] == []


def test_settings_are_those_of_the_nodes_class_in_the_cluster_and_on_the_node() -> None:
    name = NODES.range_of("gpu01").node_class
    tuned = gpfs(tuning={name: {"pagepool_mib": 2048, "verbs": "rails", "settings": {"numaMemoryInterleave": "yes"}}})
    settings = view.gpfs_client(Fabric(), NODES, tuned, None, "gpu01")["mounts"]["settings"]
    assert settings["pagepool"] == "2048M" and settings["verbsRdma"] == settings["verbsRdmaCm"] == "enable"
    assert settings["verbsRdmaRoCEToS"] == str(26 << 2 | 2) and settings["numaMemoryInterleave"] == "yes"
    [cluster] = view.gpfs_members(Fabric(), NODES, tuned)["classes"]
    assert cluster["settings"] == settings and "gpu01" in cluster["nodes"]
