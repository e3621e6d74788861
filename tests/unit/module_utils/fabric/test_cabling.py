# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.cables.model import (
    Cable,
    Cabling,
    Link,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.cabling import (
    CablingError,
    NodePort,
    SwitchPorts,
    neighbours,
    node_ports,
    switch_links,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Nodes, Range
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.nics import Nics
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.unit.module_utils.site.test_refused import site


def nodes(leaves: str, rails: int = 4) -> Nodes:
    """Two nodes with so many rails and two storage ports."""
    whole = load(site("lab")).nodes
    storage = Nics("store[0-1]", "mlx5_[8-9]", (0, 0), purpose="storage")
    nics = (Nics(f"rail[0-{rails - 1}]", f"mlx5_[0-{rails - 1}]", (0,) * rails), storage)
    return Nodes({"h100": replace(whole.classes["h100"], nics=nics)}, (Range("gpu[1-2]", "h100", leaves),))


def found(cabling: Cabling, leaves: str) -> list[tuple[str | int, ...]]:
    return [(it.switch, it.port, it.node, *it.numbers) for it in node_ports(cabling, nodes(leaves))]


def test_one_leaf_for_all_rails() -> None:
    cable = Cable("leaf1", "Ethernet1-8", "gpu[1-2]")
    assert found(Cabling((cable,)), "leaf1") == [
        *(("leaf1", f"Ethernet{rail + 1}", "gpu1", rail) for rail in range(4)),
        *(("leaf1", f"Ethernet{rail + 5}", "gpu2", rail) for rail in range(4)),
    ]


def test_one_leaf_for_each_rail() -> None:
    cable = Cable("leaf[1-4]", "Ethernet1/1-2/1", "gpu[1-2]")
    assert found(Cabling((cable,)), "leaf[1-4]") == [
        (f"leaf{rail + 1}", f"Ethernet{node}/1", f"gpu{node}", rail) for rail in range(4) for node in (1, 2)
    ]


def test_leaves_for_equal_groups_of_rails() -> None:
    cable = Cable("leaf[1-2]", "Ethernet1-4", "gpu[1-2]")
    assert found(Cabling((cable,)), "leaf[1-2]")[:4] == [
        ("leaf1", "Ethernet1", "gpu1", 0),
        ("leaf1", "Ethernet2", "gpu1", 1),
        ("leaf1", "Ethernet3", "gpu2", 0),
        ("leaf1", "Ethernet4", "gpu2", 1),
    ]


def test_storage_ports_are_numbered_by_their_cables() -> None:
    cables = (Cable("leaf9", "Ethernet1-2", "gpu[1-2]", "storage"), Cable("leaf8", "Ethernet5", "gpu2", "storage"))
    assert node_ports(Cabling(cables), nodes("leaf1")) == [
        NodePort("leaf9", "Ethernet1", "gpu1", "storage", (0,)),
        NodePort("leaf9", "Ethernet2", "gpu2", "storage", (0,)),
        NodePort("leaf8", "Ethernet5", "gpu2", "storage", (1,)),
    ]


def bonded(leaves: str) -> Nodes:
    """Two nodes with two bonds of two ports."""
    whole = load(site("lab")).nodes
    nics = (Nics("bond[0-1]", "mlx5_bond_[0-1]", (0, 1), members="p[0-3]"),)
    return Nodes({"h100": replace(whole.classes["h100"], nics=nics)}, (Range("gpu[1-2]", "h100", leaves),))


def test_bonds_over_a_pair_have_a_member_on_each_leaf() -> None:
    cabling = Cabling((Cable("leaf[1-2]", "Ethernet1-4", "gpu[1-2]"),))
    cables = node_ports(cabling, bonded("leaf[1-2]"))
    assert [(it.switch, it.port, it.node, it.numbers) for it in cables[:4]] == [
        ("leaf1", "Ethernet1", "gpu1", (0,)),
        ("leaf1", "Ethernet2", "gpu1", (2,)),
        ("leaf1", "Ethernet3", "gpu2", (0,)),
        ("leaf1", "Ethernet4", "gpu2", (2,)),
    ]
    assert neighbours(cables, bonded("leaf[1-2]"), "gpu2") == {
        "p0": ("leaf1", "Ethernet3"),
        "p1": ("leaf2", "Ethernet3"),
        "p2": ("leaf1", "Ethernet4"),
        "p3": ("leaf2", "Ethernet4"),
    }


def test_bonds_with_pairs_of_their_own() -> None:
    assert neighbours([], bonded("leaf[1-4]"), "gpu1") == {f"p{at}": (f"leaf{at + 1}", "") for at in range(4)}


def test_bonds_on_one_leaf_each() -> None:
    part = bonded("leaf1,leaf1,leaf2,leaf2")
    assert neighbours([], part, "gpu1") == {f"p{at}": (f"leaf{at // 2 + 1}", "") for at in range(4)}
    assert part.ranges[0].unit == "leaf1-2"


@pytest.mark.parametrize(("ports", "ends"), [("ae0-1", [(0, 1), (2, 3)]), ("et-0/0/0-3", [(0,), (1,), (2,), (3,)])])
def test_bonds_end_in_ports_or_in_port_channels(ports: str, ends: list[tuple[int, ...]]) -> None:
    cables = node_ports(Cabling((Cable("leaf1", ports, "gpu1"),)), bonded("leaf1"))
    assert [it.numbers for it in cables] == ends
    ports_are_known = {port != "" for _switch, port in neighbours(cables, bonded("leaf1"), "gpu1").values()}
    assert ports_are_known == {len(ends) == 4}


def test_links_go_to_the_upper_switches_in_turn() -> None:
    link = Link("leaf[1-2]", "Ethernet9-12", "spine[1-2]", "Ethernet1-4")
    assert switch_links(Cabling(links=(link,))) == [
        SwitchPorts("leaf1", "Ethernet9", "spine1", "Ethernet1"),
        SwitchPorts("leaf1", "Ethernet10", "spine1", "Ethernet2"),
        SwitchPorts("leaf1", "Ethernet11", "spine2", "Ethernet1"),
        SwitchPorts("leaf1", "Ethernet12", "spine2", "Ethernet2"),
        SwitchPorts("leaf2", "Ethernet9", "spine1", "Ethernet3"),
        SwitchPorts("leaf2", "Ethernet10", "spine1", "Ethernet4"),
        SwitchPorts("leaf2", "Ethernet11", "spine2", "Ethernet3"),
        SwitchPorts("leaf2", "Ethernet12", "spine2", "Ethernet4"),
    ]


@pytest.mark.parametrize("lower", ["Ethernet9-11", "Ethernet9"])
def test_links_that_can_not_be_divided_are_refused(lower: str) -> None:
    with pytest.raises(CablingError, match="can't be divided among 2 upper ones"):
        switch_links(Cabling(links=(Link("leaf[1-2]", lower, "spine[1-2]", "Ethernet1-4"),)))
