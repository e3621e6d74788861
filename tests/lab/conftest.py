# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A site and its places, for tests that boot nothing."""

import pytest

from lab.hosts import site
from lab.hosts.paths import Paths
from tests.slurm_daemons import Place, unpacked


@pytest.fixture
def paths(tmp_path):
    return Paths.of({"LAB_ID": "7", "LAB_STATE": str(tmp_path / "state"), "LAB_CACHE": str(tmp_path / "cache")})


@pytest.fixture
def room_site():
    return site.load(7)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The lab's Slurm, for tests that start daemons."""
    return unpacked(tmp_path_factory.mktemp("slurm"))
