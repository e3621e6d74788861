# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.channels import other_channel


@pytest.mark.parametrize(
    ("there", "wanted", "words"),
    [
        ("bond1", "", "swp1 is in bond1, which has the MTU; add bond1 to channels of the switch"),
        ("bond2", "bond1", "swp1 should be in bond1, but it is in bond2; correct channels"),
        ("", "bond1", "swp1 should be in bond1, but it is in no port-channel"),
    ],
)
def test_a_member_that_is_elsewhere_is_named_with_the_repair(there: str, wanted: str, words: str) -> None:
    assert words in other_channel("swp1", there, wanted)
