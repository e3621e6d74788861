# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Arista EOS: counters of the lossless class and LLDP neighbours, from JSON.

EOS reports a queue's depth through LANZ alone, as events, so it is no counter here.
"""

from __future__ import annotations

import json

from ...model import SwitchProfile
from ..state import DROPPED, MARKED, RX_PAUSE, STORMS, TX_PAUSE, Ports, StateRead, counted, joined, neighbour


def reads(profile: SwitchProfile, release: str = "") -> tuple[StateRead, ...]:
    """The commands; all ports in one answer each."""
    del release
    lossless = [str(number) for number in profile.lossless]
    names = profile.ports
    return (
        StateRead("pause frames", "show priority-flow-control counters detail | json", _pauses, (RX_PAUSE, TX_PAUSE)),
        StateRead("ECN marks", "show qos interfaces ecn counters queue | json", _marks, (MARKED,)),
        StateRead("drops", "show interfaces counters queue detail | json", _drops, (DROPPED,)),
        StateRead(
            "watchdog storms",
            "show priority-flow-control counters watchdog | json",
            lambda answer: _storms(answer, names, lossless),
            (STORMS,),
        ),
        StateRead("LLDP neighbours", "show lldp neighbors | json", _neighbours),
    )


def _pauses(answer: str) -> Ports:
    return joined(
        counted(port, number, **{RX_PAUSE: it["rxFrames"], TX_PAUSE: it["txFrames"]})
        for port, part in json.loads(answer)["interfaces"].items()
        for number, it in part["priorities"].items()
    )


def _marks(answer: str) -> Ports:
    """A queue without `random-detect ecn count` has a dash."""
    return joined(
        counted(port, queue, **{MARKED: marks})
        for port, part in json.loads(answer)["intfQueueCounters"].items()
        for queue, marks in part["queueCounters"].items()
    )


def _drops(answer: str) -> Ports:
    """Drops of unicast queues. A key for several classes, TC0-2, can't be divided among them."""
    return joined(
        counted(port, name.removeprefix("TC"), **{DROPPED: it["droppedPackets"]})
        for port, part in json.loads(answer)["egressQueueCounters"]["interfaces"].items()
        for name, found in part["ucastQueues"]["trafficClasses"].items()
        if name.removeprefix("TC").isdigit()
        for it in found["dropPrecedences"].values()
    )


def _storms(answer: str, names: tuple[str, ...], lossless: list[str]) -> Ports:
    """EOS leaves out ports without a storm: theirs are 0."""
    found = json.loads(answer)["interfaces"]
    return joined(
        counted(port, queue, **{STORMS: found.get(port, {}).get("txQueues", {}).get(queue, {}).get("stuckCount", 0)})
        for port in names
        for queue in lossless
    )


def _neighbours(answer: str) -> Ports:
    return joined(
        neighbour(it["port"], it["neighborDevice"], it["neighborPort"]) for it in json.loads(answer)["lldpNeighbors"]
    )
