# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a switch's ports as data: what a system must read for it, and how the answers become one result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from ..model import SwitchProfile

RX_PAUSE, TX_PAUSE = "rx_pause", "tx_pause"
MARKED, DROPPED, STORMS = "ecn_marked_packets", "dropped_packets", "watchdog_storms"
DEPTH, PEAK = "queue_bytes", "queue_peak_bytes"
COUNTERS = (RX_PAUSE, TX_PAUSE, MARKED, DROPPED, STORMS, DEPTH, PEAK)
"""Of each priority. A counter that a system lacks is absent."""
Ports = dict[str, dict[str, Any]]
"""By port: `priorities`, by number and counter, and `neighbour`, a device and its port."""


@dataclass(frozen=True)
class StateRead:
    """One command, and its answer's part of the result."""

    what: str
    """The part, for the reason why it is missing."""
    line: str
    parse: Callable[[str], Ports]
    """Raises ValueError, KeyError, TypeError or AttributeError for an answer of another shape."""


def no_state(profile: SwitchProfile) -> tuple[StateRead, ...]:
    """A system whose state Drawbridge does not read yet."""
    del profile
    return ()


def counted(port: str, priority: object, **counters: int) -> Ports:
    """Counters of one priority."""
    return {port: {"priorities": {str(priority): counters}}}


def neighbour(port: str, device: str, there: str) -> Ports:
    """The device at the other end of a port's cable."""
    return {port: {"neighbour": [device, there]}}


def joined(parts: Iterable[Ports]) -> Ports:
    """All parts as one; numbers of the same counter are added."""
    found: Ports = {}
    for part in parts:
        for port, keys in part.items():
            _join(found.setdefault(port, {}), keys)
    return found


def of_ports(parts: Iterable[Ports], names: Sequence[str]) -> Ports:
    """The result for these ports. All of them have both keys, and priorities are in their order."""
    found = joined(parts)
    result: Ports = {}
    for name in names:
        port = found.get(name, {})
        priorities = sorted(port.get("priorities", {}).items(), key=lambda item: int(item[0]))
        result[name] = {"neighbour": port.get("neighbour", []), "priorities": dict(priorities)}
    return result


def _join(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, Mapping):
            _join(into.setdefault(key, {}), value)
        elif isinstance(value, int):
            into[key] = into.get(key, 0) + value
        else:
            into[key] = value
