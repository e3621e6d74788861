# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the reader of switches gets: which switches, and who is behind their ports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.cables.model import Cable, Cabling
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.nics import Nics
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.network_view import switch
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.telemetry_switches_view import (
    telemetry_switches,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.model import (
    SwitchReader,
    Telemetry,
)

from tests.unit.module_utils.site.test_refused import CHANGES, in_full, patched, site

READER = SwitchReader("ctl", "reader", left_out="spine1")


def viewed(change: str = "", reader: SwitchReader | None = READER) -> dict[str, Any]:
    found = load(patched(in_full(CHANGES[change])) if change else site("lab"))
    return telemetry_switches(found.fabric, found.nodes, Telemetry(switches=reader))


def test_switches_with_their_own_export_are_left_out_and_others_have_their_profile() -> None:
    found = viewed()
    assert [found[key] for key in ("python", "seconds", "parallel", "user")] == ["/usr/bin/python3", 60, 4, "reader"]
    assert list(found["switches"]) == ["leaf1", "leaf2"]
    lab = load(site("lab"))
    assert lab.fabric
    profile = found["switches"]["leaf1"]["profile"]
    assert profile == switch(lab.fabric, lab.nodes, "leaf1")
    assert SwitchProfile.from_dict(profile).lossless == [3]
    assert found["switches"]["leaf1"]["nodes"] == {}, "the lab's intent has no cabling"


def test_a_port_has_the_node_and_the_number_of_its_rail() -> None:
    behind = viewed("cabled")["switches"]["leaf1"]["nodes"]
    assert behind["Ethernet1"] == ["gpu01", "0"]
    assert behind["Ethernet8"] == ["gpu01", "7"]
    assert behind["Ethernet9"] == ["gpu02", "0"]


@pytest.mark.parametrize(("ports", "ends"), [("Ethernet1-4", ["0", "0", "1", "1"]), ("Ethernet1-2", ["0", "1"])])
def test_members_of_a_bond_have_the_bonds_number(ports: str, ends: list[str]) -> None:
    """Each member has a cable, or the bond's port-channel has one."""
    lab = load(site("lab"))
    assert lab.fabric
    bonds = Nics("bond[0-1]", "mlx5_bond_[0-1]", (0, 1), members="ens[1-4]")
    build = replace(lab.nodes.classes["h100"], nics=(bonds,))
    nodes = replace(lab.nodes, classes={**lab.nodes.classes, "h100": build})
    fabric = replace(lab.fabric, cabling=Cabling(nodes=(Cable("leaf1", ports, "gpu01"),)))
    behind = telemetry_switches(fabric, nodes, Telemetry(switches=READER))["switches"]["leaf1"]["nodes"]
    assert list(behind.values()) == [["gpu01", rail] for rail in ends]


def test_a_storage_port_has_a_node_and_no_rail() -> None:
    lab = load(site("lab"))
    assert lab.fabric
    fabric = replace(lab.fabric, cabling=Cabling(nodes=(Cable("leaf1", "Ethernet20", "gpu01", "storage"),)))
    behind = telemetry_switches(fabric, lab.nodes, Telemetry(switches=READER))["switches"]["leaf1"]["nodes"]
    assert behind == {"Ethernet20": ["gpu01", ""]}


def test_a_site_without_a_reader_or_without_switches_has_nothing_to_read() -> None:
    assert viewed(reader=None) == {}
    lab = load(site("lab"))
    assert telemetry_switches(None, lab.nodes, Telemetry(switches=READER)) == {}
    assert telemetry_switches(lab.fabric, lab.nodes, None) == {}
