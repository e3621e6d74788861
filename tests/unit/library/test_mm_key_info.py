# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The public key of an emulated cluster."""

from __future__ import annotations

from tests.unit.library.gpfs_site import Clusters


def test_the_key_is_the_file_in_use_and_nothing_is_changed(clusters: Clusters) -> None:
    found = clusters.key("ess1")
    assert "clusterName=drawbridge-lab.ess1" in found["public_key"] and not found["changed"]
    assert clusters.written("ess1") == []


def test_a_cluster_without_the_file_in_use_has_its_only_key(clusters: Clusters) -> None:
    folder = clusters.hosts["ess1"].root / "mmfs/ssl"
    (folder / "id_rsa_committed.pub").unlink()
    (folder / "id_rsa.pub").write_text("the only one\n")
    # the emulator writes both again at the next command that gets a pushed configuration only
    assert clusters.key("ess1")["public_key"] == "the only one\n"
    (folder / "id_rsa.pub").unlink()
    assert "has no id_rsa_committed.pub" in clusters.key("ess1")["msg"]


def test_a_key_that_is_not_the_intents_is_refused_where_it_is_read(clusters: Clusters) -> None:
    refused = clusters.key("ess1", fingerprint="0" * 64, intent_key="owner.fingerprint")
    assert refused["failed"]
    assert f"drawbridge_gpfs.owner.fingerprint is {'0' * 64}, but this cluster's public key has" in refused["msg"]
