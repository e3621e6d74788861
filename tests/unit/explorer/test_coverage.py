# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

from tests.explorer.coverage import EDGES, IMPOSSIBLE, Seen, events, gaps
from tests.explorer.steps import STEPS, targets


def whole() -> Seen:
    return Seen(
        Counter({(fault, verb, step): 1 for verb, step, fault in targets()}),
        Counter({(verb, step): 1 for verb, steps in STEPS.items() for step in steps}),
        Counter(dict.fromkeys(events(), 1)),
        Counter(dict.fromkeys(EDGES, 1)),
    )


def test_what_was_reached_leaves_no_gap() -> None:
    assert list(gaps(whole(), targets())) == []


def test_every_kind_of_gap_is_told() -> None:
    seen = whole()
    del seen.edges["held", "dirty"]
    del seen.events["resume"]
    del seen.met["409", "end", "delete roles"]
    seen.steps["open", "sing"] = 1
    assert list(gaps(seen, targets())) == [
        "edge held -> dirty",
        "event 'resume'",
        "steps.py does not list open: sing",
        "409 at end: delete roles",
    ]


def test_events_are_those_of_the_gates_sources() -> None:
    assert {"open", "too late", "open failed, hold", "token placed", *IMPOSSIBLE} <= set(events())
