# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.history import (
    NOTHING,
    Entry,
    Mark,
    changes,
    counted,
    mark,
    of_node,
    parsed,
    reboots,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import REASON, Finding

FULL = "[user] disk space: / is full"
DRAIN = frozenset({"DRAIN"})


def whats(before: Mark, after: Mark, node: Seen | None = None) -> list[tuple[str, str]]:
    return [(it.what, it.text) for it in changes(node or Seen("n1", "IDLE"), before, after, 7)]


def test_a_line_is_read_as_it_was_written() -> None:
    entry = Entry(1.5, "n1", "found", 'a "b"; c')
    assert [*parsed([entry.line(), "", "{", "[]", '{"time": "x", "node": "n", "what": "w"}', "7", '{"time": 1}'])] == [
        entry
    ]


def test_a_mark_has_what_counts() -> None:
    seen = Seen("n1", "IDLE", DRAIN, f"{REASON}{FULL}", "drawbridge health: {kept: breaker a is open}")
    assert mark(seen, [Finding.parse(FULL)]) == Mark((FULL,), FULL, "breaker a is open")
    assert mark(Seen("n1", "IDLE", frozenset(), f"{REASON}{FULL}"), []) == NOTHING
    assert mark(Seen("n1", "IDLE", DRAIN, "fan"), []).plain


def test_changes_from_look_to_look() -> None:
    assert whats(NOTHING, Mark((FULL,))) == [("found", FULL)]
    assert whats(Mark((FULL,)), NOTHING) == [("gone", FULL)]
    assert whats(Mark((FULL,)), Mark(("[user] disk space: / is fuller",))) == []
    assert whats(Mark((FULL,)), Mark((FULL,), FULL)) == [("drained", FULL)]
    assert whats(Mark((), FULL), NOTHING) == [("lifted", FULL)]
    assert whats(Mark((), FULL), Mark((), "[user repair] disk space: / is full")) == [
        ("reason", "[user repair] disk space: / is full")
    ]
    assert whats(Mark((), FULL), NOTHING, Seen("n1", "IDLE", DRAIN, "fan")) == [
        ("reason", "another reason keeps it from jobs: fan")
    ]


def test_kept_is_said_of_nodes_with_findings_once() -> None:
    kept = Mark((FULL,), "", "breaker a is open")
    assert whats(NOTHING, Mark((), "", "breaker a is open")) == []
    assert whats(Mark((FULL,)), kept) == [("kept", "breaker a is open")]
    assert whats(kept, kept) == []


def test_since_when_and_how_often() -> None:
    rows = [(1, "found"), (2, "found"), (3, "gone"), (4, "found"), (5, "drained")]
    entries = [Entry(at, "n1", what, FULL) for at, what in rows]
    assert counted(entries, Finding("disk space: / is fuller")) == (4, 3)
    assert counted(entries[:2], Finding.parse(FULL)) == (1, 2)
    assert counted(entries[:3], Finding.parse(FULL)) == (None, 2)
    assert counted(entries, Finding("other: x")) == (None, 0)


def test_old_entries_and_other_nodes_do_not_count() -> None:
    entries = [Entry(at * 86400.0, name, "rebooted") for at, name in ((1, "n1"), (40, "n2"), (40, "n1"))]
    assert of_node(entries, "n1", 41 * 86400.0) == [entries[2]]
    assert reboots(entries) == {"n1": (86400.0, 40 * 86400.0), "n2": (40 * 86400.0,)}
