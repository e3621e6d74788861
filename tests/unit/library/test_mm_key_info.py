# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The public key of an emulated cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.gpfs_site import Clusters


@pytest.fixture
def site(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Clusters:
    return Clusters(tmp_path, monkeypatch, capfd)


def test_the_key_is_the_file_in_use_and_nothing_is_changed(site: Clusters) -> None:
    found = site.key("ess1")
    assert "clusterName=drawbridge-lab.ess1" in found["public_key"] and not found["changed"]
    assert site.written("ess1") == []


def test_a_cluster_without_the_file_in_use_has_its_only_key(site: Clusters) -> None:
    folder = site.hosts["ess1"].root / "mmfs/ssl"
    (folder / "id_rsa_committed.pub").unlink()
    (folder / "id_rsa.pub").write_text("the only one\n")
    # the emulator writes both again at the next command that gets a pushed configuration only
    assert site.key("ess1")["public_key"] == "the only one\n"
    (folder / "id_rsa.pub").unlink()
    assert "has no id_rsa_committed.pub" in site.key("ess1")["msg"]


def test_a_key_that_is_not_the_intents_is_refused_where_it_is_read(site: Clusters) -> None:
    refused = site.key("ess1", fingerprint="0" * 64, intent_key="owner.fingerprint")
    assert refused["failed"]
    assert f"drawbridge_gpfs.owner.fingerprint is {'0' * 64}, but this cluster's public key has" in refused["msg"]
