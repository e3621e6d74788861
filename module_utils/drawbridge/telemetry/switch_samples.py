# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The metrics of one switch: labels from the cabling, and the values of one reading alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .exposition import Sample
from .families import FAMILIES

UP, READ_AT, READ_S = (
    "drawbridge_switch_up",
    "drawbridge_switch_read_timestamp_seconds",
    "drawbridge_switch_read_seconds",
)
PAUSES = "drawbridge_switch_pause_frames_total"
FAMILY_OF: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "rx_pause": (PAUSES, {"direction": "rx"}),
    "tx_pause": (PAUSES, {"direction": "tx"}),
    "ecn_marked_packets": ("drawbridge_switch_ecn_marked_packets_total", {}),
    "dropped_packets": ("drawbridge_switch_dropped_packets_total", {}),
    "watchdog_storms": ("drawbridge_switch_watchdog_storms_total", {}),
    "queue_bytes": ("drawbridge_switch_queue_bytes", {}),
    "queue_peak_bytes": ("drawbridge_switch_queue_peak_bytes", {}),
}
"""The family of each counter that M(drawbridge.drawbridge.switch_state) knows, with the label that the counter adds."""
OF_LOSSY = ("dropped_packets", "queue_bytes", "queue_peak_bytes")
"""Counters of a class that PFC does not protect. The others do not exist there; they would double the series."""
LACKS = " is not in the answer of "
"""It is in each sentence of C(unknown) about a counter that an answer lacks."""
Counter = tuple[str, str, str]
"""Port, priority and name."""


@dataclass(frozen=True)
class Ends:
    """Nodes behind the ports of a switch, and the priorities that are classes of the intent."""

    nodes: Mapping[str, tuple[str, str]]
    """Node and rail by port. A port that is not here goes to another switch, or the intent does not say."""
    lossless: tuple[str, ...]
    lossy: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """One try to read a switch, and what it gave."""

    at: float
    """Its end, in seconds since 1970."""
    seconds: float
    ports: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """As M(drawbridge.drawbridge.switch_state) returns them."""
    failures: tuple[str, ...] = ()
    """Commands that the switch refused, or answered in an unknown form."""
    gaps: tuple[str, ...] = ()
    """Counters that answers lack."""
    why_none: str = ""
    """Why there is no answer at all."""
    refused: bool = False
    """The switch refused the login."""


def reading_of(state: Mapping[str, Any], at: float, seconds: float) -> Reading:
    """A switch's answer as M(drawbridge.drawbridge.switch_state) returns it. A counter that it lacks is no failure."""
    unknown = state["unknown"]
    gaps = tuple(sentence for sentence in unknown if LACKS in sentence)
    failures = tuple(sentence for sentence in unknown if LACKS not in sentence)
    return Reading(at, seconds, state["ports"], failures, gaps)


def samples(switch: str, reading: Reading, ends: Ends, complete: bool, completed: float | None) -> Iterator[Sample]:
    """All samples of one switch. `completed` is the time of its last complete reading.

    Of a switch that gave no answer there is no value but 0, and that time.
    """
    yield Sample(UP, {"switch": switch}, int(complete))
    if completed is not None:
        yield Sample(READ_AT, {"switch": switch}, completed)
    if reading.why_none:
        return
    yield Sample(READ_S, {"switch": switch}, reading.seconds)
    for (port, priority, counter), value in _counters(reading, ends):
        node, rail = ends.nodes.get(port, ("", ""))
        family, more = FAMILY_OF[counter]
        yield Sample(
            family, {"switch": switch, "port": port, "node": node, "rail": rail, "priority": priority, **more}, value
        )


@dataclass(frozen=True)
class Verdict:
    """What a reading is worth."""

    complete: bool
    said: str
    """For the journal."""
    has: frozenset[Counter]
    """Counters of lossless classes."""


def judged(switch: str, reading: Reading, ends: Ends, seen: frozenset[Counter] = frozenset()) -> Verdict:
    """Whether a reading is complete: the switch answered all commands, and no counter is gone that was there earlier.

    A counter that the switch never had is one that it lacks: its series is absent, and the reading is complete. But an
    answer without any counter of a lossless class is none.
    """
    have = frozenset(counter for counter, _value in _counters(reading, ends) if counter[1] in ends.lossless)
    if reading.why_none:
        return Verdict(False, f"{switch} is not read: {reading.why_none}", have)
    lacks = "; ".join([*reading.failures, *reading.gaps])
    if have and not reading.failures and not seen - have:
        return Verdict(True, f"{switch} is read" + (f", but some counters are absent: {lacks}" if lacks else ""), have)
    return Verdict(False, f"{switch} is read in part: {lacks or 'counters of lossless classes are missing'}", have)


def _counters(reading: Reading, ends: Ends) -> Iterator[tuple[Counter, int]]:
    for port, found in reading.ports.items():
        priorities = found["priorities"]
        for priority in (*ends.lossless, *ends.lossy):
            for name, value in priorities.get(priority, {}).items():
                if priority in ends.lossless or name in OF_LOSSY:
                    yield (port, priority, name), value


def page(texts: Iterable[str]) -> str:
    """The texts of several switches as one: Prometheus wants all samples of a family side by side."""
    found: dict[str, list[str]] = {}
    heads: dict[str, str] = {}
    for text in texts:
        for block in text.split("# HELP ")[1:]:
            name, _space, rest = block.partition(" ")
            about, kind, own = rest.split("\n", 2)
            heads[name] = f"# HELP {name} {about}\n{kind}\n"
            found.setdefault(name, []).append(own)
    return "".join(heads[name] + "".join(found[name]) for name in FAMILIES if name in found)
