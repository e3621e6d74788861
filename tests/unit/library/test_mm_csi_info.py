# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the driver for Kubernetes needs of the emulated cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.gpfs_filesystem import ADMIN, Filesystem


@pytest.fixture
def site(own_mounts: None, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Filesystem:
    """fs1 is mounted on nsd1, enforces quotas and has filesetdf."""
    return Filesystem(tmp_path, monkeypatch, capfd)


def look(site: Filesystem, **change: Any) -> dict[str, Any]:
    given = {"cluster_id": site.state()["id"], "filesystems": ["fs1"], "nodes": [ADMIN, "gpu01"]}
    return site.run(ADMIN, "mm_csi_info", **{**given, **change})


def test_nodes_with_all_mounts_are_found_and_nothing_is_written(site: Filesystem) -> None:
    found = look(site)
    assert (found["mounted"], found["changed"]) == ([ADMIN], False)
    assert site.commands() == [] and set(site.verbs()) == {"mmlscluster", "mmlsfs", "mmlsmount"}


def test_another_cluster_is_refused(site: Filesystem) -> None:
    failed = look(site, cluster_id="1")
    assert failed["failed"] and "drawbridge_gpfs.csi.cluster.id is 1, but mmlscluster prints" in failed["msg"]


def test_a_file_system_that_the_driver_refuses_is_named_with_the_command(site: Filesystem) -> None:
    site.tool("mmchfs", "fs1", "-Q", "no")
    site.tool("mmchfs", "fs1", "--nofilesetdf")
    failed = look(site)
    assert failed["failed"] and "`mmchfs fs1 -Q yes`" in failed["msg"] and "`mmchfs fs1 --filesetdf`" in failed["msg"]


def test_an_unknown_file_system_is_an_error(site: Filesystem) -> None:
    assert look(site, filesystems=["fs9"])["failed"]
