# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.lossless import findings, growth
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged, Result

INCAST = Judged("fabric", "incast bandwidth", "b,c -> a rail0", 390, "Gb/s", 352.9, True, "", True, ("a", "b", "c"), 0)


def result(incast: bool = True) -> Result:
    return Result("0", "lab", "a", "b", True, measures=(INCAST,) if incast else ())


def ports(counters: dict[str, int], priority: str = "3") -> dict[str, Any]:
    return {"leaf1": {"Ethernet1": {"neighbour": ["gpu01", "rail0"], "priorities": {priority: counters}}}}


QUIET = {"dropped_packets": 5, "ecn_marked_packets": 40, "watchdog_storms": 1, "rx_pause": 9}
MARKED = {**QUIET, "ecn_marked_packets": 90}


@pytest.mark.parametrize(
    ("grown", "text", "warning"),
    [
        ({"dropped_packets": 8}, "leaf1 Ethernet1 (to gpu01 rail0) dropped 3 packets of priority 3", False),
        ({"watchdog_storms": 2}, "the queue of priority 3 was stuck 1 times (PFC watchdog)", False),
        ({"ecn_marked_packets": 40}, "no switch marked a packet of priority 3 (ECN)", False),
    ],
)
def test_a_counter_that_grew_or_did_not_is_a_finding(grown: dict[str, int], text: str, warning: bool) -> None:
    found = findings(result(), ports(QUIET), ports({**MARKED, **grown}), 3)
    assert [(text in it.text, it.warning) for it in found] == [(True, warning)]


def test_a_sound_proof_has_none() -> None:
    assert findings(result(), ports(QUIET), ports(MARKED), 3) == []
    # pauses of the lossless class are its way to work, and without an incast nothing needs a mark
    assert findings(result(), ports(QUIET), ports({**MARKED, "rx_pause": 99}), 3) == []
    assert findings(result(incast=False), ports(QUIET), ports(QUIET), 3) == []


def test_pauses_of_another_priority_are_a_warning() -> None:
    found = findings(result(False), ports({"rx_pause": 1}, "0"), ports({"rx_pause": 7}, "0"), 3)
    assert [it.text for it in found] == [
        "leaf1 Ethernet1 (to gpu01 rail0) was paused 6 times in priority 0, which is not lossless"
    ]
    assert found[0].warning


def test_a_switch_that_was_not_read_twice_is_a_warning() -> None:
    for before, after in (({}, ports(QUIET)), (ports(QUIET), {"leaf1": {}})):
        (found,) = findings(result(), before, after, 3)
        assert "its counters were not read" in found.text
        assert (found.leaves, found.warning) == (("leaf1",), True)


def test_counters_that_a_switch_lacks_prove_nothing() -> None:
    assert findings(result(), ports({"rx_pause": 1}), ports({"rx_pause": 1}), 3) == []


def test_a_switch_that_started_anew_counts_from_zero() -> None:
    before, after = ports({"dropped_packets": 7})["leaf1"], ports({"dropped_packets": 2})["leaf1"]
    assert growth(before, after, "Ethernet1", 3, "dropped_packets") == 2
