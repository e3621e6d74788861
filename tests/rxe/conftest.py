# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One boot of both machines for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.filter.view import view

from tests.rxe.pair import Pair
from tests.unit.module_utils.site.test_refused import site


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    machines = Pair(tmp_path_factory.mktemp("rxe"))
    try:
        machines.boot(next(group["tos"] for group in view(site("lab"), "nic", name="gpu01")["roce"]["groups"]))
        yield machines
    finally:
        machines.end()
