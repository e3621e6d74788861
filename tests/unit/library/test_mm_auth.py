# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The owner's side of a remote mount, with every fault of mmauth. What both sides share is in test_mm_remote.py."""

from __future__ import annotations

import pytest

from lab.emulators.storage.gpfs.remote import digest
from tests.unit.library.gpfs_site import HERE, Clusters

WRONG = "of another\n"


@pytest.mark.parametrize("known", [False, True])
def test_a_wrong_key_is_deleted_again_before_anything_is_granted(clusters: Clusters, known: bool) -> None:
    if known:
        clusters.auth()
        with clusters.owner.state() as state:
            state["auth"][HERE]["digest"] = "1" * 64
    refused = clusters.auth(key=WRONG)
    assert refused.get("failed") and f"has the digest {digest(WRONG)}" in refused["msg"]
    assert clusters.owned()["auth"] == {}


def test_grants_of_other_clusters_and_file_systems_stay(clusters: Clusters) -> None:
    other = {"digest": "2" * 64, "cipher": "AUTHONLY", "grants": {"fs1": {"access": "ro", "root": "root allowed"}}}
    with clusters.owner.state() as state:
        state["auth"]["elsewhere"] = other
    clusters.auth()
    assert clusters.owned()["auth"]["elsewhere"] == other


@pytest.mark.parametrize("match", ["add", "grant"])
@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die", "drift"])
def test_faults_are_reported_and_the_next_run_finishes(clusters: Clusters, match: str, effect: str) -> None:
    clusters.hosts["ess1"].arm("gpfs", "mmauth", effect, match)
    assert clusters.auth().get("failed")
    again = clusters.auth()
    assert not again.get("failed"), again
    assert clusters.auth()["steps"] == []
