# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.scontrol import fields, state_flags


def test_a_reason_that_looks_like_a_key_changes_nothing() -> None:
    told = fields("NodeName=gpu01 State=IDLE+DRAIN Reason=look at State=DOWN first")
    assert (told["NodeName"], told["State"]) == ("gpu01", "IDLE+DRAIN")


def test_a_star_is_a_flag() -> None:
    assert state_flags({"State": "DOWN*+DRAIN"}) == ("DOWN", {"DRAIN", "NOT_RESPONDING"})
    assert state_flags({}) == ("UNKNOWN", frozenset())
