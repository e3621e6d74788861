# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The history of findings: a line of JSON for each change that the controller has seen. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from ..decide import DAY_S, Seen
from ..finding import REASON, Finding
from ..pages import subject

FOUND, GONE, DRAINED, LIFTED, KEPT = "found", "gone", "drained", "lifted", "kept"
NEW_REASON, REBOOTED, OPENED, CLOSED = "reason", "rebooted", "opened", "closed"
DAYS = 30
"""How far back the history is counted."""


@dataclass(frozen=True)
class Entry:
    """One change. `node` is empty for a breaker, whose name begins the text."""

    time: float
    node: str
    what: str
    text: str = ""

    def line(self) -> str:
        """As one line of the file."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Mark:
    """What one look leaves of a node for the next."""

    findings: tuple[str, ...] = ()
    reason: str = ""
    """Of a drain for findings; empty without one."""
    kept: str = ""

    @property
    def plain(self) -> bool:
        """Whether there is nothing to remember."""
        return not (self.findings or self.reason)


NOTHING = Mark()


def parsed(lines: Iterable[str]) -> Iterator[Entry]:
    """Entries of a file, the oldest first. Lines that can't be read are left out."""
    for line in lines:
        try:
            shown = json.loads(line)
            yield Entry(float(shown["time"]), str(shown["node"]), str(shown["what"]), str(shown.get("text", "")))
        except (ValueError, LookupError, TypeError, AttributeError):
            continue


def mark(node: Seen, found: Sequence[Finding]) -> Mark:
    """The mark of a node with these findings."""
    reason = node.reason[len(REASON) :] if node.ours else ""
    return Mark(tuple(map(str, found)), reason, node.report.kept)


def changes(node: Seen, before: Mark, after: Mark, now: float) -> Iterator[Entry]:
    """Changes of a node from one look to the next. Words of a finding may change while it lasts."""
    was, has = ({_subject(text): text for text in it.findings} for it in (before, after))
    yield from (Entry(now, node.name, FOUND, has[it]) for it in has if it not in was)
    yield from (Entry(now, node.name, GONE, was[it]) for it in was if it not in has)
    if after.kept and after.findings and not (before.kept and before.findings):
        yield Entry(now, node.name, KEPT, after.kept)
    if after.reason and not before.reason:
        yield Entry(now, node.name, DRAINED, after.reason)
    elif before.reason and not after.reason:
        new = f"another reason keeps it from jobs: {node.reason or 'none'}" if node.unavailable else ""
        yield Entry(now, node.name, NEW_REASON if new else LIFTED, new or before.reason)
    elif _about(before.reason) != _about(after.reason):
        yield Entry(now, node.name, NEW_REASON, after.reason)


def of_node(entries: Iterable[Entry], node: str, now: float) -> list[Entry]:
    """The node's entries of the last days."""
    return [it for it in entries if it.node == node and now - it.time < DAYS * DAY_S]


def counted(entries: Iterable[Entry], finding: Finding) -> tuple[float | None, int]:
    """Since when it is found without a break, and how often it was found; of the entries of one node."""
    since, times, about = None, 0, subject(finding.text)
    for entry in entries:
        if entry.what in (FOUND, GONE) and _subject(entry.text) == about:
            since = (since or entry.time) if entry.what == FOUND else None
            times += entry.what == FOUND
    return since, times


def reboots(entries: Iterable[Entry]) -> dict[str, tuple[float, ...]]:
    """Times of reboots by node."""
    found: dict[str, tuple[float, ...]] = {}
    for entry in entries:
        if entry.what == REBOOTED:
            found[entry.node] = (*found.get(entry.node, ()), entry.time)
    return found


def _about(reason: str) -> set[tuple[str, str]]:
    """What a reason is about: its findings without the words that may change."""
    return {(subject(it.text), it.ends) for it in map(Finding.parse, reason.split("; "))}


def _subject(text: str) -> str:
    return subject(Finding.parse(text).text)
