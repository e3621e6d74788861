# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.releases import (
    RELEASES,
    of_version,
)


def test_releases_stand_in_their_order() -> None:
    assert list(RELEASES) == sorted(RELEASES) == ["23.11", "24.05", "24.11", "25.05", "25.11", "26.05"]


@pytest.mark.parametrize(
    ("printed", "release"),
    [("slurm-wlm 24.11.5\n", "24.11"), ("slurm 26.05.3\n", "26.05"), ("", "")],  # Debian 13, upstream's own build
)
def test_the_release_of_a_printed_version(printed: str, release: str) -> None:
    assert of_version(printed) == release


def test_confinement_can_be_switched_off_since_24_05() -> None:
    assert [name for name, release in RELEASES.items() if release.no_cgroups] == list(RELEASES)[1:]
