# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site is built once, as a site builds its own."""

from __future__ import annotations

import pytest

from tests.isolation.node import LAB


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """Hosts that lab up has booted, as they are or built before."""
    done = LAB.playbook("site")
    assert done.code == 0, done.output
