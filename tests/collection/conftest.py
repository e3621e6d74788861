# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the installed collection share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collection.installed import Site, install
from tests.collection.recorder import Recorder


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The collection, built and installed once for all tests."""
    return install(tmp_path_factory.mktemp("collection"))


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    """Stand-ins for ssh and netmiko that note who asks for a connection."""
    return Recorder(tmp_path)
