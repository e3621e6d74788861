# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses

import netmiko
import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Switches
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.table import DIALECTS


def test_every_platform_of_the_intent_is_spoken_and_no_other() -> None:
    (platform,) = (field for field in dataclasses.fields(Switches) if field.name == "platform")
    assert set(DIALECTS) == set(platform.metadata["choices"])


@pytest.mark.parametrize("platform", sorted(DIALECTS))
def test_netmiko_knows_the_device(platform: str) -> None:
    assert DIALECTS[platform].device_type in netmiko.platforms
