# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import netmiko
import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import dialect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_is_found_by_its_name_and_netmiko_knows_it(system: str) -> None:
    assert dialect(system).device_type in netmiko.platforms
