# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.cables.model import Cabling, Link
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.links import (
    both_ends_carry_the_class,
    unchecked,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Fabric, Switches
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.unit.module_utils.site.test_refused import site

LEAVES = Switches("leaf[1-2]", "leaf", "eos", "Ethernet1-20")
SPINES = Switches("spine[1-2]", "spine", "eos", "Ethernet1-2")


def fabric(*links: Link, switches: tuple[Switches, ...] = (LEAVES, SPINES)) -> Fabric:
    whole = load(site("lab")).fabric
    assert whole
    return replace(whole, switches=switches, cabling=Cabling(links=links) if links else None)


ALL = Link("leaf[1-2]", "Ethernet19-20", "spine[1-2]", "Ethernet1-2")


def test_a_link_in_listed_ports_is_right_and_checked() -> None:
    assert list(both_ends_carry_the_class(fabric(ALL))) == []
    assert unchecked(fabric(ALL)) == []


def test_an_asymmetric_link_names_both_ends_and_the_values_that_would_differ() -> None:
    (fault,) = both_ends_carry_the_class(fabric(replace(ALL, upper_ports="Ethernet2-3")))
    assert fault.value == "leaf2 Ethernet19 to spine1 Ethernet3"
    assert "does not list spine1 Ethernet3" in fault.reason
    assert "priority 3 lossless, trust DSCP and MTU 9214" in fault.reason
    assert fault.repair == "add Ethernet3 to ports of spine1"


def test_lists_and_switches_that_other_rules_refuse_are_left_to_them() -> None:
    assert list(both_ends_carry_the_class(fabric(replace(ALL, upper_ports="Ethernet1")))) == []
    assert list(both_ends_carry_the_class(fabric(replace(ALL, upper="spine[8-9]")))) == []


def test_spines_without_links_are_reported_as_not_checked() -> None:
    (said,) = unchecked(fabric())
    assert said.startswith("no drawbridge_fabric.cabling.links for spine[1-2]: Drawbridge does not check")
    (said,) = unchecked(fabric(Link("leaf[1-2]", "Ethernet20", "spine1", "Ethernet1-2")))
    assert "for spine2:" in said


def test_leaves_alone_have_no_links_to_check() -> None:
    assert unchecked(fabric(switches=(LEAVES,))) == []
