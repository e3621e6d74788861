# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What tests of the gate share: a gate that does not wait long, and nodes that are all in service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import stack
from tests.stack import NODES


@pytest.fixture(scope="module")
def impatient() -> Iterator[None]:
    """Limits so short, and timers so quick, that a test can wait for them."""
    with stack.impatient(NODES):
        yield


@pytest.fixture
def usable_before() -> None:
    """All nodes closed and in service."""
    stack.until(lambda: stack.all_usable(NODES), 180, "all nodes closed and in service")
