# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lossless class during a proof, as the switches counted it: nothing dropped, ECN marked, no queue stuck.

Counters are those that the module switch_state returns: by switch, port and priority.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .result import ProofFinding, Result
from .run.fabric_verdict import INCAST_BANDWIDTH

CHECK = "lossless class"
LOOK = "the port's lines of the lossless class on {}, against the intent"

Ports = Mapping[str, Mapping[str, Any]]
"""A switch's ports, each with neighbour and counters by priority."""


def findings(
    result: Result, before: Mapping[str, Ports], after: Mapping[str, Ports], priority: int
) -> list[ProofFinding]:
    """What the counters say about the time between two readings. A switch that was not read twice is a warning."""
    found: list[ProofFinding] = []
    marked, known = 0, False
    for name in sorted({*before, *after}):
        if not (before.get(name) and after.get(name)):
            text = f"{name}: its counters were not read before and after the proof, so drops there are not known"
            found.append(ProofFinding(CHECK, "missing", text, f"ansible {name}", leaves=(name,), warning=True))
            continue
        found += _of_switch(name, before[name], after[name], priority)
        for port in after[name]:
            grown = growth(before[name], after[name], port, priority, "ecn_marked_packets")
            known, marked = known or grown is not None, marked + (grown or 0)
    if known and not marked and any(it.name == INCAST_BANDWIDTH for it in result.measures):
        text = f"no switch marked a packet of priority {priority} (ECN), although many nodes sent to one"
        look = "the ECN thresholds of the lossless class, against the intent"
        found.append(ProofFinding(CHECK, "remark", text, look))
    return found


def growth(before: Ports, after: Ports, port: str, priority: int, name: str) -> int | None:
    """What a counter has grown by; None if it was not read twice. One that a switch has begun anew counts from 0."""
    values = [side.get(port, {}).get("priorities", {}).get(str(priority), {}).get(name) for side in (before, after)]
    first, last = values
    if first is None or last is None:
        return None
    return int(last) - int(first) if int(last) >= int(first) else int(last)


def _of_switch(name: str, before: Ports, after: Ports, priority: int) -> Iterator[ProofFinding]:
    for port in after:
        at = f"{name} {port}{_to(after[port].get('neighbour') or ())}"
        if dropped := growth(before, after, port, priority, "dropped_packets"):
            text = f"{at} dropped {dropped} packets of priority {priority}, which is lossless"
            yield ProofFinding(CHECK, "limit", text, LOOK.format(name), leaves=(name,))
        if stuck := growth(before, after, port, priority, "watchdog_storms"):
            text = f"{at}: the queue of priority {priority} was stuck {stuck} times (PFC watchdog)"
            look = "the NIC or switch at the other end, which paused too long"
            yield ProofFinding(CHECK, "limit", text, look, leaves=(name,))
        for other in after[port].get("priorities", {}):
            if other != str(priority) and (paused := growth(before, after, port, int(other), "rx_pause")):
                text = f"{at} was paused {paused} times in priority {other}, which is not lossless"
                look = "NIC settings of the node at this port, against the intent"
                yield ProofFinding(CHECK, "remark", text, look, leaves=(name,), warning=True)


def _to(neighbour: Sequence[str]) -> str:
    return f" (to {' '.join(neighbour)})" if neighbour else ""
