# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.storage_reach import (
    carries_storage,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.network_view import switch

from tests.unit.module_utils.site.test_refused import site


def carries(raw: dict[str, Any], *names: str) -> list[bool]:
    intent = load(raw)
    assert intent.fabric
    return [carries_storage(intent.fabric, intent.nodes, name) for name in names]


def test_rails_of_nodes_with_storage_nics_carry_none_and_storage_switches_do() -> None:
    raw = site("example-rails")
    assert carries(raw, "leaf03", "spine1", "store1", "store2") == [False, False, True, True]
    intent = load(raw)
    assert intent.fabric
    assert switch(intent.fabric, intent.nodes, "leaf03")["storage"] is None
    assert switch(intent.fabric, intent.nodes, "store1")["storage"]["priority"] == 4


def test_storage_of_nodes_without_nics_for_it_takes_the_rails_and_the_spines() -> None:
    raw = site("example-rails")
    nodes, fabric = raw["drawbridge_nodes"], raw["drawbridge_fabric"]
    nodes["classes"]["h100"]["nics"].pop()
    fabric["cabling"]["nodes"] = fabric["cabling"]["nodes"][:2]
    assert carries(raw, "leaf03", "spine1") == [True, True]


@pytest.mark.parametrize("change", ["no cabling", "a port that goes somewhere", "no links"])
def test_what_cabling_does_not_say_may_be_a_server(change: str) -> None:
    raw = site("example-rails")
    fabric = raw["drawbridge_fabric"]
    if change == "no cabling":
        del fabric["cabling"]
    elif change == "no links":
        del fabric["cabling"]["links"]
    else:
        fabric["switches"][0]["ports"] = "Ethernet1/1-65/1"
    assert carries(raw, "leaf03", "spine1") == [True, True]
