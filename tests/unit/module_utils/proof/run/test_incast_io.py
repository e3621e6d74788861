# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure, Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import incast_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.incast_io import (
    DROPS,
    IN_CLASS,
    MARKS,
    NOTIFICATIONS,
    PAUSED,
    Counters,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites

A, B = (ProofNode(it, "big", (ProofRail("r0", "m0", 400), ProofRail("r1", "m1", 400)), priority=3) for it in "ab")
TESTS = sites.Test(sites.PAIR, ("a", "b"), (0,)), sites.Test(sites.INCAST, ("a", "b"), (1,))

Grow = Callable[[dict[str, int]], None]


@pytest.fixture
def grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grow:
    """Counters of rail 1; names with prio are those of ethtool."""
    values: dict[str, int] = {}

    def more(numbers: dict[str, int]) -> None:
        for name, number in numbers.items():
            values[name] = values.get(name, 0) + number
            path = tmp_path / "m1/ports/1/hw_counters" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if "prio" not in name:
                path.write_text(f"{values[name]}\n")

    def ethtool(argv: list[str]) -> Completed:
        if values.get("prio"):
            raise DeviceError("no answer")
        assert argv[1:] == ["-S", "r1"], "a test that is no incast is not counted"
        return Completed(0, "".join(f"     {name}: {it}\n" for name, it in values.items() if "prio" in name), "")

    monkeypatch.setattr(incast_io, "INFINIBAND", tmp_path)
    monkeypatch.setattr(incast_io, "tool", lambda name: name)
    monkeypatch.setattr(incast_io, "Command", lambda _limit_s: ethtool)
    return more


def test_a_receiver_counts_drops_marks_and_notifications_since_the_start(grow: Grow) -> None:
    grow({"np_ecn_marked_roce_packets": 5, "np_cnp_sent": 7, "out_of_buffer": 1, "rx_prio3_discards": 2})
    counters = Counters(A, TESTS)
    grow({"np_ecn_marked_roce_packets": 50, "np_cnp_sent": 70, "out_of_buffer": 10, "rx_prio3_discards": 20})
    grow({"rx_prio5_discards": 9, "packet_seq_err": 0})
    values = {DROPS: 30.0, MARKS: 50.0, NOTIFICATIONS: 70.0}
    assert counters.found() == {1: [Measure(name, it, "packets", "a rail1") for name, it in values.items()]}


def test_a_sender_counts_drops_and_the_pauses_of_its_lossless_priority(grow: Grow) -> None:
    grow({"rx_prio3_pause": 4, "tx_prio3_discards": 1})
    counters = Counters(B, TESTS)
    grow({"rx_prio3_pause": 3, "rx_prio4_pause": 9, "tx_prio3_packets": 95, "tx_prio0_packets": 5})
    assert counters.found()[1] == [
        Measure(DROPS, 0.0, "packets", "b rail1"),
        Measure(PAUSED, 3.0, "packets", "b rail1"),
        Measure(IN_CLASS, 95.0, "%", "b rail1"),
    ]


def test_counters_that_a_driver_lacks_are_missing(grow: Grow) -> None:
    grow({"out_of_buffer": 1, "np_cnp_sent": 1, "prio": 1})
    found = Counters(A, TESTS).found()[1]
    assert [type(it) for it in found] == [Measure, Missing, Measure]
    assert isinstance(Counters(B, TESTS).found()[1][1], Missing), "ethtool gives no answer"


def test_a_node_without_an_incast_counts_nothing(grow: Grow) -> None:
    assert Counters(A, TESTS[:1]).found() == {}
