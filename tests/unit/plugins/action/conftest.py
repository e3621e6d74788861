# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Actions log in over SSH. A switch whose server starts forgets who has typed, so it runs before a test begins."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def leaf(leaf: Any) -> Any:
    """A switch as it left the factory, whose server runs."""
    assert leaf.login.port
    leaf.reset()
    return leaf
