# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Cumulus Linux: RoCE counters, the watchdog of each port, and LLDP neighbours, from JSON.

RoCE counters are those of RoCE mode's two classes: the lossless one, and congestion notifications.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from ...model import SwitchProfile
from ..state import (
    DEPTH,
    DROPPED,
    MARKED,
    PEAK,
    RX_PAUSE,
    STORMS,
    TX_PAUSE,
    Ports,
    StateRead,
    counted,
    joined,
    neighbour,
)
from ..state import number as number_of
from .capabilities import CAPABILITIES, CNP, COUNTERS_OF_ALL, ROCE
from .lines import at
from .sizes import size_bytes

COUNTED = (RX_PAUSE, TX_PAUSE, MARKED, DROPPED, DEPTH, PEAK)


def reads(profile: SwitchProfile, release: str = "") -> tuple[StateRead, ...]:
    """The commands. NVUE shows the watchdog of one port at a time, and older releases the counters too."""
    counters = [StateRead("RoCE counters", f"{COUNTERS_OF_ALL} -o json", _counters, COUNTED)]
    if not CAPABILITIES.releases.has(COUNTERS_OF_ALL, release):
        counters = [
            StateRead(
                f"RoCE counters of {port}",
                f"nv show interface {port} qos roce counters -o json",
                lambda answer, port=port: joined(_of_port(port, json.loads(answer))),
                COUNTED,
                (port,),
            )
            for port in profile.ports
        ]
    return (
        *counters,
        *(
            StateRead(
                f"watchdog storms of {port}",
                f"nv show interface {port} qos pfc-watchdog -o json",
                partial(_storms, port=port, lossless=profile.lossless),
                (STORMS,),
                (port,),
            )
            for port in profile.ports
        ),
        StateRead("LLDP neighbours", "nv show interface lldp -o json", _neighbours),
    )


def _counters(answer: str) -> Ports:
    return joined(part for port, node in json.loads(answer).items() for part in _of_port(port, node))


def _of_port(port: str, node: Any) -> Iterator[Ports]:
    """A port without RoCE mode has no counters; a value that is absent or no number costs that counter alone."""
    nested = at(node, "qos", "roce", "counters")
    found = nested if nested else node
    received, sent = at(found, "rx-stats"), at(found, "tx-stats")
    yield counted(
        port,
        ROCE,
        **{
            RX_PAUSE: at(received, "rx-pfc-stats", "pause-packets"),
            TX_PAUSE: at(sent, "tx-pfc-stats", "pause-packets"),
            MARKED: at(sent, "tx-ecn-stats", "ecn-marked-packets"),
        },
    )
    for number, queue in ((ROCE, at(sent, "tx-roce-stats")), (CNP, at(sent, "tx-cnp-stats"))):
        yield counted(
            port,
            number,
            **{
                DROPPED: _dropped(number, received, queue),
                DEPTH: _bytes(at(queue, "tc-usage")),
                PEAK: _bytes(at(queue, "tc-max-usage")),
            },
        )


def _dropped(number: int, received: Any, queue: Any) -> object:
    """Drops on the way out, and of the lossless class on the way in; a sum with an unknown part is unknown."""
    parts = [queue, *([at(received, "rx-roce-stats")] if number == ROCE else [])]
    keys = ("unicast-no-buffer-discard", "no-buffer-discard")
    found = [number_of(at(part, key)) for part, key in zip(parts, keys)]
    return None if None in found else sum(filter(None, found))


def _bytes(size: Any) -> object:
    try:
        return size_bytes(size)
    except ValueError:
        return None


def _storms(answer: str, port: str, lossless: list[int]) -> Ports:
    queues = json.loads(answer)["status"]
    return joined(counted(port, n, **{STORMS: at(queues, n, "deadlock-count")}) for n in lossless)


def _neighbours(answer: str) -> Ports:
    """A port without a neighbour has no `lldp`."""
    return joined(
        neighbour(port, it["chassis"]["system-name"], it["port"]["name"])
        for port, node in json.loads(answer).items()
        for it in at(node, "lldp", "neighbor").values()
    )
