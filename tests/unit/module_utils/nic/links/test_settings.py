# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.settings import wanted


def test_what_a_group_does_not_name_stays() -> None:
    assert wanted({"interfaces": ["rail0"]}) == {}
    off = {("rail0", "global pause rx"): "off", ("rail0", "global pause tx"): "off"}
    assert wanted({"interfaces": ["rail0"], "ports": ["rail0"], "ring_size": 0, "read_request_bytes": 0}) == off


def test_ports_of_a_bond_have_the_numa_node_of_their_bond() -> None:
    ports = ["a", "b", "c", "d"]
    found = wanted({"interfaces": ["bond0", "bond1"], "ports": ports, "interrupts_numa": [0, 1]})
    assert [found[port, "interrupts"][-1] for port in ports] == ["0", "0", "1", "1"]
