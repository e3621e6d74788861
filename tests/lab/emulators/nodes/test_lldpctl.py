# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from lab.emulators.nodes.lldpctl import neighbours


def test_every_element_is_a_list_and_an_interface_is_no_key() -> None:
    (part,) = neighbours({"rail0": ["leaf1", "Ethernet1"], "rail1": None})["lldp"]
    (device,) = part["interface"]
    assert (device["name"], device["chassis"][0]["name"]) == ("rail0", [{"value": "leaf1"}])
    assert device["port"][0]["id"] == [{"type": "ifname", "value": "Ethernet1"}]
    assert neighbours({})["lldp"] == [{}]
