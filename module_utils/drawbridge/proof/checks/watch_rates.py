# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The watch check of a rail's counters: how fast they rise, against earlier samples in a file that health keeps.

Counters of the link alone are findings. Those of the transport and of congestion are warnings, because a peer that
died, or a job, makes them rise on healthy nodes. `rnr_nak_retry_err`, too: it counts receivers that were busy.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..measure import Found, Remark
from ..node import ProofNode, ProofRail
from .check import WATCH, Check, Output, Texts
from .state_rails import files_of, has_rails, netdev_file, port_file, rail_name, unread

RATES = "rail rates"
COUNTERS = "/var/lib/drawbridge/health/counters.json"
"""Earlier samples, as sample() writes them."""
SHORTEST_S = 30.0
"""Within less, a rate is chance."""
_UPTIME, _BOOT = "/proc/uptime", "/proc/sys/kernel/random/boot_id"
SECOND, MINUTE, HOUR, ANY = 1.0, 60.0, 3600.0, math.inf
_WORDS = {SECOND: " a second", MINUTE: " a minute", HOUR: " an hour", ANY: ""}
_CARRIER = "carrier_changes"


@dataclass(frozen=True)
class Rise:
    """How much a counter may rise within a time, or between two samples (ANY)."""

    most: int
    within_s: float
    warning: bool = False


LIMITS: Mapping[str, Rise] = {
    "counters/link_downed": Rise(0, ANY),
    "counters/excessive_buffer_overrun_errors": Rise(0, ANY),
    "counters/local_link_integrity_errors": Rise(0, ANY),
    "counters/symbol_error": Rise(120, HOUR),
    "counters/link_error_recovery": Rise(5, MINUTE),
    "counters/port_rcv_errors": Rise(10, SECOND),
    _CARRIER: Rise(2, ANY),
    "counters/port_xmit_discards": Rise(100, SECOND, warning=True),
    "hw_counters/local_ack_timeout_err": Rise(1, SECOND, warning=True),
    "hw_counters/roce_slow_restart": Rise(10, SECOND, warning=True),
    "hw_counters/rnr_nak_retry_err": Rise(0, ANY, warning=True),
}
"""Limits that NVSentinel publishes. Its limit of 10 symbol errors a second is left out: 120 an hour is stricter."""


@dataclass(frozen=True)
class Sample:
    """Counters by path, at a time since boot in seconds."""

    at: float
    counts: Mapping[str, int]


def sample(texts: Texts) -> str:
    """The next text of COUNTERS, from the files of this check; empty where the kernel tells no time.

    It has two samples: this one, and one of about an hour ago. Until SHORTEST_S have passed the old text stays.
    """
    boot, at = _now(texts)
    if not boot:
        return ""
    before = _before(texts, boot)
    if before and at - before[-1].at < SHORTEST_S:
        return texts[COUNTERS]
    found = {path: text.strip() for path, text in texts.items() if path.endswith(tuple(LIMITS))}
    now = Sample(at, {path: int(text) for path, text in found.items() if text.isdigit()})
    first = next((it for it in before if at - it.at < HOUR), now)
    return json.dumps({"boot": boot, "samples": [[it.at, it.counts] for it in (first, now)]})


def _now(texts: Texts) -> tuple[str, float]:
    """Boot and seconds since it; an empty text without them."""
    words = texts.get(_UPTIME, "").split()
    try:
        return texts.get(_BOOT, "").strip(), float(words[0])
    except (IndexError, ValueError):
        return "", 0.0


def _before(texts: Texts, boot: str) -> list[Sample]:
    """Earlier samples since this boot, the oldest first; none of a text that is not sample()'s."""
    try:
        kept = json.loads(texts.get(COUNTERS, "{}"))
        if kept.get("boot") != boot:
            return []
        return [Sample(float(at), {path: int(count) for path, count in some.items()}) for at, some in kept["samples"]]
    except (ValueError, TypeError, KeyError, AttributeError):
        return []


def _place(rail: ProofRail, name: str) -> str:
    return netdev_file(rail, name) if name == _CARRIER else port_file(rail, name)


def _rates(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    boot, at = _now(texts)
    before = _before(texts, boot) if boot else []
    if not before:
        return []
    return [one for number, rail in enumerate(node.rails) for one in _of_rail(node, number, rail, texts, before, at)]


def _of_rail(
    node: ProofNode, number: int, rail: ProofRail, texts: Texts, before: Sequence[Sample], at: float
) -> Iterator[Found]:
    """One remark about all findings, and one about all warnings. A smaller count is a counter that was reset."""
    where = rail_name(node, number)
    risen: dict[bool, list[str]] = {}
    for name, limit in LIMITS.items():
        path = _place(rail, name)
        text = texts.get(path, "").strip()
        if text and not text.isdigit():
            yield unread(RATES, where, path, texts)
        elif text:
            earlier = before[0 if limit.within_s == HOUR else -1]
            passed, rise = at - earlier.at, int(text) - earlier.counts.get(path, int(text))
            if passed >= SHORTEST_S and rise > limit.most * max(1.0, passed / limit.within_s):
                short = name.rpartition("/")[2]
                words = f"{short} rose by {rise} in {passed:.0f} s, at most {limit.most}{_WORDS[limit.within_s]}"
                risen.setdefault(limit.warning, []).append(words)
    for warning, words_of in risen.items():
        yield Remark(RATES, where, ", ".join(words_of), warning)


RATE_CHECKS: tuple[Check, ...] = (
    Check(
        RATES,
        WATCH,
        "A link fails or loses symbols now: look at the cable, at the module and at the switch port.",
        "Rates",
        has_rails,
        _rates,
        files=lambda node: [
            *(_UPTIME, _BOOT, COUNTERS),
            *files_of(*(lambda rail, name=name: _place(rail, name) for name in LIMITS))(node),
        ],
    ),
)
