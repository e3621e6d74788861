# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a switch's ports as data: what a system must read for it, and how the answers become one result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from ...core import ports as port_lists
from ..model import SwitchProfile

RX_PAUSE, TX_PAUSE = "rx_pause", "tx_pause"
MARKED, DROPPED, STORMS = "ecn_marked_packets", "dropped_packets", "watchdog_storms"
DEPTH, PEAK = "queue_bytes", "queue_peak_bytes"
COUNTERS = (RX_PAUSE, TX_PAUSE, MARKED, DROPPED, STORMS, DEPTH, PEAK)
"""Of each priority. A counter that a system lacks is absent."""
OTHERS = "other_neighbours"
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
    gives: tuple[str, ...] = ()
    """Counters that the answer has of each lossless priority."""
    ports: tuple[str, ...] = ()
    """The only ports that the answer is about; none: all."""
    lacking: str = ""
    """Why the release has no such command, as a clause. It is not typed then."""

    def missing(self, found: Ports, profile: SwitchProfile) -> list[str]:
        """What the answer should have and lacks, as clauses."""
        lacking: dict[tuple[str, int], list[str]] = {}
        for port in self.ports or profile.ports:
            for priority in profile.lossless:
                has = found.get(port, {}).get("priorities", {}).get(str(priority), {})
                for counter in self.gives:
                    if counter not in has:
                        lacking.setdefault((counter, priority), []).append(port)
        return [
            f"{counter} of priority {priority} of {port_lists.compress(names)}"
            for (counter, priority), names in lacking.items()
        ]


def no_state(profile: SwitchProfile, release: str = "") -> tuple[StateRead, ...]:
    """A system whose state Drawbridge does not read yet."""
    del profile, release
    return ()


def number(cell: object) -> int | None:
    """The number of a cell, which may have commas for thousands; None for a cell that is no number, such as N/A."""
    text = str(cell).replace(",", "").strip()
    return int(text) if text.isdigit() else None


def counted(port: str, priority: object, **cells: object) -> Ports:
    """Counters of one priority. A cell that is no number costs that cell alone."""
    counters = {name: value for name, cell in cells.items() if (value := number(cell)) is not None}
    return {port: {"priorities": {str(priority): counters}}} if counters else {}


def columns(lines: Sequence[str], first: str, titles: Sequence[str]) -> tuple[int, list[int]]:
    """The number of the line with the titles of a table, and where these columns begin. Raises ValueError."""
    for at, line in enumerate(lines):
        if line.startswith(first):
            return at, [line.index(title) for title in titles]
    raise ValueError("\n".join(lines))


def neighbour(port: str, device: str, there: str) -> Ports:
    """A device at the other end of a port's cable."""
    return {port: {"neighbour": [device, there]}}


def joined(parts: Iterable[Ports]) -> Ports:
    """All parts as one; numbers of the same counter are added, and a second neighbour is noted beside the first."""
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


def crowded(parts: Iterable[Ports], names: Sequence[str]) -> list[str]:
    """Ports with more than one neighbour, as sentences: the result has the first of them."""
    found = joined(parts)
    return [
        f"{name} sees {', '.join(' '.join(it) for it in others)} beside its first neighbour"
        for name in names
        if (others := found.get(name, {}).get(OTHERS))
    ]


def _join(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, Mapping):
            _join(into.setdefault(key, {}), value)
        elif isinstance(value, int):
            into[key] = into.get(key, 0) + value
        elif key == OTHERS:
            into[key] = [*into.get(key, []), *value]
        elif into.setdefault(key, value) != value:
            into.setdefault(OTHERS, []).append(value)
