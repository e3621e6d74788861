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
from .capabilities import CNP, ROCE
from .lines import at
from .sizes import size_bytes


def reads(profile: SwitchProfile) -> tuple[StateRead, ...]:
    """The commands. NVUE shows the watchdog of one port at a time."""
    return (
        StateRead("RoCE counters", "nv show interface qos-roce-counters -o json", _counters),
        *(
            StateRead(
                f"watchdog storms of {port}",
                f"nv show interface {port} qos pfc-watchdog -o json",
                partial(_storms, port=port, lossless=profile.lossless),
            )
            for port in profile.ports
        ),
        StateRead("LLDP neighbours", "nv show interface lldp -o json", _neighbours),
    )


def _counters(answer: str) -> Ports:
    return joined(part for port, node in json.loads(answer).items() for part in _of_port(port, node))


def _of_port(port: str, node: Any) -> Iterator[Ports]:
    nested = at(node, "qos", "roce", "counters")
    found = nested if nested else node
    received, sent = found["rx-stats"], found["tx-stats"]
    yield counted(
        port,
        ROCE,
        **{
            RX_PAUSE: received["rx-pfc-stats"]["pause-packets"],
            TX_PAUSE: sent["tx-pfc-stats"]["pause-packets"],
            MARKED: sent["tx-ecn-stats"]["ecn-marked-packets"],
            DROPPED: received["rx-roce-stats"]["no-buffer-discard"],
        },
    )
    for number, queue in ((ROCE, sent["tx-roce-stats"]), (CNP, sent["tx-cnp-stats"])):
        yield counted(
            port,
            number,
            **{
                DROPPED: queue["unicast-no-buffer-discard"],
                DEPTH: size_bytes(queue["tc-usage"]),
                PEAK: size_bytes(queue["tc-max-usage"]),
            },
        )


def _storms(answer: str, port: str, lossless: list[int]) -> Ports:
    queues = json.loads(answer)["status"]
    return joined(counted(port, n, **{STORMS: queues[str(n)]["deadlock-count"]}) for n in lossless)


def _neighbours(answer: str) -> Ports:
    """The first neighbour of each port; a port without one has no `lldp`."""
    return joined(
        neighbour(port, it["chassis"]["system-name"], it["port"]["name"])
        for port, node in json.loads(answer).items()
        for it in list(at(node, "lldp", "neighbor").values())[:1]
    )
