# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What several kinds of unit tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.emulated_switch import Leaf, start


@pytest.fixture(scope="session")
def running_leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaf]:
    """One switch for all tests: a start costs more than what most of them do with it."""
    leaf, process = start(tmp_path_factory.mktemp("switch"))
    yield leaf
    process.terminate()
    process.wait(10)
    assert process.stdout
    process.stdout.close()


@pytest.fixture
def leaf(running_leaf: Leaf) -> Leaf:
    """A switch as it left the factory."""
    running_leaf.reset()
    return running_leaf
