# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.states import STATES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS


def test_each_vendor_of_the_intent_has_a_reader() -> None:
    assert STATES.keys() >= VENDORS.keys()
