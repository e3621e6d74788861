# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Switches
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS


def test_the_intent_takes_every_system_and_no_other() -> None:
    (platform,) = (field for field in dataclasses.fields(Switches) if field.name == "platform")
    assert platform.metadata["choices"] == tuple(SYSTEMS)
