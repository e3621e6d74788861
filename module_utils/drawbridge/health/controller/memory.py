# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the controller remembers from one look to the next, as JSON, and how a lost memory is recovered. Pure.

A lost memory must close no breaker, because only a person may. So the answers in nodes' records name the open breakers,
too. A breaker of a unit behind the site's open one is in no answer: it opens again when its limit is exceeded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ...core import hostlist
from ..decide import DAY_S, DRAIN, KEEP, LIFT, REASON_ONLY, REBOOT_NODE, RESUME, UNKEEP, Act, Memory, Opened, Seen
from .history import Mark

ANSWER = re.compile(r"breaker (.+) is open")
RECOVERED = "recovered from the nodes' records, because the memory was lost; see the history for the cause"
LONGEST_NAMES = 200
"""Characters of a hostlist in a sentence."""
OLDEST_DAYS = 365
"""Of reboots: the longest C(again_days)."""
CHANGES: Mapping[str, str] = {
    DRAIN: "drain",
    LIFT: "end of the drain",
    RESUME: "return to service",
    REASON_ONLY: "new reason",
    REBOOT_NODE: "reboot",
    KEEP: "answer",
    UNKEEP: "answer",
}
"""Acts as words for people."""


@dataclass(frozen=True)
class Notes:
    """All that one look leaves for the next."""

    opened: Mapping[str, Opened] = field(default_factory=dict)
    """Open breakers by name."""
    reboots: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Times of reboots by node, the oldest first."""
    marks: Mapping[str, Mark] = field(default_factory=dict)
    """By node; a node with nothing to remember has none."""
    done: tuple[Act, ...] = ()
    """Acts that Slurm accepted, which the next look must see."""
    said: tuple[str, ...] = ()
    """Complaints that are in the log already."""
    looked: float = 0.0
    """Time of the last look that slurmctld answered; 0: there was none."""

    def memory(self, again_days: int, now: float) -> Memory:
        """As the decision needs it: reboots of the last days count."""
        lately = {name: times[-1] for name, times in self.reboots.items() if now - times[-1] < again_days * DAY_S}
        return Memory(self.opened, lately)

    def text(self) -> str:
        """As JSON."""
        shown = asdict(self)
        shown["marks"] = {name: [list(it.findings), it.reason, it.kept] for name, it in self.marks.items()}
        shown["done"] = [[it.kind, it.node, it.text] for it in self.done]
        return json.dumps(shown)

    @staticmethod
    def parse(text: str) -> Notes:
        """Notes of text(). Raises ValueError."""
        try:
            shown: dict[str, Any] = json.loads(text)
            opened = {name: Opened(float(it["since"]), str(it["why"])) for name, it in shown["opened"].items()}
            reboots = {name: tuple(map(float, times)) for name, times in shown["reboots"].items() if times}
            marks = {name: Mark(tuple(found), reason, kept) for name, (found, reason, kept) in shown["marks"].items()}
            done = tuple(Act(*words) for words in shown["done"])
            return Notes(opened, reboots, marks, done, tuple(shown["said"]), float(shown["looked"]))
        except (LookupError, TypeError, AttributeError) as err:
            raise ValueError(f"no memory of drawbridge-health: {type(err).__name__}: {err}") from err


def recovered(nodes: Iterable[Seen], now: float) -> dict[str, Opened]:
    """Open breakers by the answers in nodes' records."""
    answers = (ANSWER.fullmatch(it.report.kept) for it in nodes if it.comment)
    return {found[1]: Opened(now, RECOVERED) for found in answers if found}


def rebooted(reboots: Mapping[str, Sequence[float]], names: Iterable[str], now: float) -> dict[str, tuple[float, ...]]:
    """The times with a reboot of these nodes now. Times that count no more are left out."""
    found = {name: [it for it in times if now - it < OLDEST_DAYS * DAY_S] for name, times in reboots.items()}
    for name in names:
        found.setdefault(name, []).append(now)
    return {name: tuple(times) for name, times in found.items() if times}


def not_rebooted(
    reboots: Mapping[str, Sequence[float]], names: Iterable[str], now: float
) -> dict[str, tuple[float, ...]]:
    """The times without those of now: Slurm refused these reboots."""
    refused = set(names)
    found = {name: [it for it in times if not (name in refused and it == now)] for name, times in reboots.items()}
    return {name: tuple(times) for name, times in found.items() if times}


def without_effect(done: Iterable[Act], nodes: Mapping[str, Seen]) -> list[str]:
    """Sentences on acts that Slurm accepted and that a later look does not see."""
    missing: dict[str, list[str]] = {}
    for act in done:
        if act.node in nodes and not _visible(act, nodes[act.node]):
            missing.setdefault(CHANGES[act.kind], []).append(act.node)
    return [f"Slurm accepted the {change}, but it is not in effect: {_few(names)}" for change, names in missing.items()]


def _visible(act: Act, node: Seen) -> bool:
    if act.kind in (LIFT, RESUME):
        return not node.ours
    if act.kind in (KEEP, UNKEEP):
        return node.report.kept == act.text
    if act.kind == REBOOT_NODE:
        return bool(node.flags & {"REBOOT_REQUESTED", "REBOOT_ISSUED"}) or node.booted or not node.ours
    return node.reason == act.text


def _few(names: list[str]) -> str:
    text = hostlist.in_order(names)
    return text if len(text) <= LONGEST_NAMES else f"{names[0]} and {len(names) - 1} more"
