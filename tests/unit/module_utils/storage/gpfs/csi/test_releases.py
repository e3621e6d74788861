# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.releases import (
    RELEASES,
    definition,
    older,
)


@pytest.mark.parametrize("name", RELEASES)
def test_each_release_has_a_digest_and_one_way_to_name_its_cluster(name: str) -> None:
    release = RELEASES[name]
    assert re.fullmatch(r"[0-9a-f]{64}", release.digest)
    assert release.primary != release.local_cluster, "IBM put the one in place of the other with 3.0"
    assert len({it.digest for it in RELEASES.values()}) == len(RELEASES)


def test_the_kind_has_the_fields_of_its_release() -> None:
    [old, new] = (
        definition(RELEASES[name])["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        for name in ("2.14.3", "3.0.0")
    )
    assert (old["required"], new["required"]) == (["clusters"], ["clusters", "localScaleCluster"])
    clusters = [it["properties"]["clusters"]["items"]["properties"] for it in (old, new)]
    assert ["primary" in it for it in clusters] == [True, False]
    assert clusters[0]["id"]["maxLength"] == 20


@pytest.mark.parametrize(
    ("version", "than", "found"),
    [
        ("5.2.3-0", "5.2.3", False),
        ("5.2.2-1", "5.2.3", True),
        ("6.0.0-0", "5.2.3", False),
        ("5.2.10-0", "5.2.9", False),
        ("5.2.3.1-x", "5.2.3", False),
    ],
)
def test_versions_of_packages_are_compared_by_their_release(version: str, than: str, found: bool) -> None:
    assert older(version, than) == found
