# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.containers import (
    CONTAINERS,
)

from tests.unit.module_utils.kube.closed_list.rows import hold


@pytest.mark.parametrize("name", CONTAINERS)
def test_each_field_of_containers_has_one_row(name: str) -> None:
    hold(name)
