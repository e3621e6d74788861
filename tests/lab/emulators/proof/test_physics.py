# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rates of flows as a table: two leaves, one spine, two uplinks of each leaf, with one change each."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lab.emulators.proof import physics
from lab.emulators.proof.physics import End

DSCP, MIB = 26, 1 << 20
PORT = {"up": True, "mtu": 9214, "trust": True, "lossless": [3], "marks": [3]}
CABLES = {
    "leaf1": {"Ethernet17": ["spine1", "Ethernet1"], "Ethernet18": ["spine1", "Ethernet2"]},
    "leaf2": {"Ethernet17": ["spine1", "Ethernet3"], "Ethernet18": ["spine1", "Ethernet4"]},
    "spine1": {f"Ethernet{at}": [f"leaf{1 + (at > 2)}", f"Ethernet{18 - at % 2}"] for at in range(1, 5)},
}


def fabric() -> dict[str, Any]:
    ports = {f"Ethernet{at}": dict(PORT) for at in range(1, 21)}
    dscp = {str(DSCP): 3}
    return {name: {"ports": copy.deepcopy(ports), "dscp": dscp, "neighbors": it} for name, it in CABLES.items()}


def end(host: str, **changes: Any) -> End:
    """Rail 0 of a host: gpu01 and gpu02 are on leaf1, gpu03 and gpu04 on leaf2."""
    number = int(host[3:])
    known = End(host, "rail0", f"leaf{1 + (number > 2)}", f"Ethernet{number}", priority=3, lossless=True)
    return known._replace(**changes)


def flow(
    to: str = "gpu02", *, incast: int = 1, size: int = MIB, sender: Any = None, receiver: Any = None, **ports: Any
) -> physics.Outcome:
    """One of `incast` equal flows from gpu01; `ports` changes ports by "switch port"."""
    switches = fabric()
    for place, changes in ports.items():
        switch, port = place.split("_")
        switches[switch]["ports"][port].update(changes)
    ends = end("gpu01", **(sender or {})), end(to, **(receiver or {}))
    links = [link.name for link in physics.links(*ends, switches)]
    senders = [links, *[[links[-1]]] * (incast - 1)]
    return physics.outcome(*ends, switches, DSCP, size, physics.counted(senders))


WHOLE = 0.99 * 400
LEAF2 = "gpu03"


@pytest.mark.parametrize(
    ("what", "gbps"),
    [
        ({}, WHOLE * 4096 / 4178),
        ({"to": LEAF2}, WHOLE * 4096 / 4178),
        ({"receiver": {"mtu": 1500}}, WHOLE * 1024 / 1106),
        ({"sender": {"mtu": 2500}}, WHOLE * 2048 / 2130),
        ({"sender": {"percent": 60}}, 0.6 * WHOLE * 4096 / 4178),
        ({"receiver": {"percent": 25}}, 0.25 * WHOLE * 4096 / 4178),
        ({"sender": {"pcie": (4, 16)}}, 212.2),
        ({"receiver": {"pcie": (5, 4)}}, 106.1),
        # a class that is broken does no harm to a flow that is alone
        ({"sender": {"priority": 0, "lossless": False}}, WHOLE * 4096 / 4178),
        ({"leaf1_Ethernet1": {"lossless": []}}, WHOLE * 4096 / 4178),
        ({"incast": 2}, 0.99 * WHOLE / 2 * 4096 / 4178),
        ({"incast": 16}, 0.99 * WHOLE / 16 * 4096 / 4178),
        ({"incast": 2, "leaf1_Ethernet1": {"lossless": []}}, 0.4 * WHOLE / 2 * 4096 / 4178),
        ({"incast": 2, "leaf1_Ethernet2": {"lossless": [4]}}, 0.4 * WHOLE / 2 * 4096 / 4178),
        ({"incast": 2, "leaf1_Ethernet1": {"trust": False}}, 0.4 * WHOLE / 2 * 4096 / 4178),
        ({"incast": 2, "sender": {"lossless": False}}, 0.4 * WHOLE / 2 * 4096 / 4178),
        ({"incast": 2, "receiver": {"priority": 4}}, 0.4 * WHOLE / 2 * 4096 / 4178),
        ({"incast": 2, "to": LEAF2, "spine1_Ethernet1": {"lossless": []}}, 0.4 * WHOLE / 2 * 4096 / 4178),
        # an uplink that is down leaves the other one, and two slow senders don't fill a port
        ({"to": LEAF2, "leaf1_Ethernet17": {"up": False}}, WHOLE * 4096 / 4178),
        ({"incast": 2, "sender": {"percent": 50}}, 0.5 * WHOLE * 4096 / 4178),
    ],
)
def test_a_rate_follows_from_ends_and_switches(what: Any, gbps: float) -> None:
    found = flow(**what)
    assert (found.failure, round(found.gbps, 1)) == ("", pytest.approx(gbps, abs=0.06))


@pytest.mark.parametrize(
    ("what", "failure"),
    [
        ({"sender": {"up": False}}, physics.DOWN),
        ({"leaf1_Ethernet1": {"up": False}}, physics.DOWN),
        ({"leaf1_Ethernet2": {"up": False}}, physics.NO_ROUTE),
        ({"receiver": {"gid": False}}, physics.NO_ROUTE),
        ({"to": LEAF2, "leaf1_Ethernet17": {"up": False}, "spine1_Ethernet2": {"up": False}}, physics.NO_ROUTE),
        ({"receiver": {"dead": True}}, physics.HANG),
        ({"leaf1_Ethernet2": {"mtu": 1500}}, physics.LOST),
        ({"to": LEAF2, "spine1_Ethernet3": {"mtu": 4100}}, physics.LOST),
        ({"leaf1_Ethernet2": {"mtu": 1500}, "size": 2}, ""),
        ({"leaf1_Ethernet2": {"mtu": 1500}, "sender": {"mtu": 1500}}, ""),
    ],
)
def test_a_flow_fails(what: Any, failure: str) -> None:
    assert flow(**what).failure == failure


@pytest.mark.parametrize(
    ("what", "seen"),
    [
        ({}, (0, 0, 0)),
        ({"incast": 2}, (1, 0, 0)),
        ({"incast": 16}, (1, 1, 0)),
        ({"incast": 2, "leaf1_Ethernet2": {"marks": []}}, (0, 1, 0)),
        ({"incast": 2, "leaf1_Ethernet2": {"lossless": []}}, (0, 0, 1)),
    ],
)
def test_congestion_is_counted(what: Any, seen: tuple[int, int, int]) -> None:
    """Marks, pauses, drops: a mild incast is only marked, a full one is paused too, a broken class drops."""
    found = flow(**what)
    assert (found.marked > 0, found.paused > 0, found.dropped > 0) == seen
    assert found.congested == ((("leaf1", "Ethernet2"),) if any(seen) else ())


def test_places_at_which_the_class_is_broken_are_named() -> None:
    switches = fabric()
    assert physics.lossy(end("gpu01"), end("gpu03"), switches, DSCP) == []
    switches["spine1"]["ports"]["Ethernet3"]["lossless"] = []
    switches["leaf2"]["dscp"] = {}
    found = physics.lossy(end("gpu01"), end("gpu03", lossless=False), switches, DSCP)
    assert found == ["gpu03 rail0", "spine1 Ethernet3"]
    switches["leaf2"]["dscp"] = {str(DSCP): 4}
    assert physics.lossy(end("gpu01"), end("gpu03"), switches, DSCP)[1:] == ["leaf2 Ethernet17", "leaf2 Ethernet3"]


def test_uplinks_are_shared_and_a_slow_path_has_a_direction() -> None:
    switches, pair = fabric(), (end("gpu01"), end("gpu03"))
    names = [link.name for link in physics.links(*pair, switches)]
    crowd = physics.counted([names, *[[it for it in names if it.startswith(("up", "down"))]] * 3])
    assert physics.outcome(*pair, switches, DSCP, MIB, crowd).gbps == pytest.approx(0.99 * WHOLE / 2 * 4096 / 4178)
    slow = {"leaf1>leaf2": 40.0}
    alone = physics.counted([])
    there = physics.outcome(*pair, switches, DSCP, MIB, alone, slow)
    back = physics.outcome(pair[1], pair[0], switches, DSCP, MIB, alone, slow)
    assert (there.gbps / back.gbps, there.us) == (pytest.approx(0.4), pytest.approx(5.5))


def test_rings_of_rails_name_the_slow_and_the_missing_one() -> None:
    nodes = [
        [end(host, rail=f"rail{at}", port=f"Ethernet{8 * (at + 1)}") for at in range(2)] for host in ("gpu01", "gpu02")
    ]
    nodes[1][1] = nodes[1][1]._replace(percent=50)
    slow, fast = physics.rings(nodes, {}, DSCP, {})[::-1]
    assert slow and fast and slow.gbps == pytest.approx(fast.gbps / 2)
    nodes[0][0] = nodes[0][0]._replace(up=False)
    assert physics.rings(nodes, {}, DSCP, {})[0] is None
    assert physics.fabric_bus(388, 8, 4, 8, tree=True) / physics.fabric_bus(388, 8, 4, 8, tree=False) == pytest.approx(
        31 / 24
    )
    buses = [physics.node_bus(8, nvls=nvls, links_down=down) for nvls, down in ((True, 0), (False, 0), (True, 9))]
    assert buses == [467, 367, 183.5]
