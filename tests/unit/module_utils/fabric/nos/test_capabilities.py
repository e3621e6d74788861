# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.capabilities import (
    capabilities,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_says_what_it_carries(system: str) -> None:
    can = capabilities(system)
    assert 9000 < can.mtu_bytes <= 9216
    assert can.refusals
