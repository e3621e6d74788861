# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic_view import (
    switch_rounds,
    switch_traffic,
    switch_waves,
)

from tests.unit.module_utils.fabric.test_traffic import FABRIC, NODES


def test_nodes_are_hostlists() -> None:
    found = switch_traffic(FABRIC, NODES, "leaf03")
    assert (found["behind"]["Ethernet5/1"], found["behind"]["Ethernet33/1"]) == ("gpu005", "gpu[001-032]")
    assert "Ethernet33/1" in found["links"]


def test_without_a_fabric_or_a_change_there_are_no_waves() -> None:
    assert switch_waves(None, NODES, ["leaf01"]) == switch_waves(FABRIC, NODES, []) == []
    assert switch_waves(FABRIC, NODES, ["spine1", "leaf02", "leaf01"]) == [["leaf01"], ["leaf02"], ["spine1"]]


def test_without_pairs_there_is_one_round() -> None:
    assert switch_rounds(None, ["leaf01"]) == switch_rounds(FABRIC, ["leaf01"]) == [["leaf01"], []]
