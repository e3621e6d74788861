# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.passport import (
    Passport,
    parse,
    stale,
    text,
)

NOW = datetime(2026, 11, 28, 21, tzinfo=timezone.utc)
DEPENDS = {"intent": "4f2a", "kernel": "6.12.48", "cable of rail0": "leaf1 Ethernet1"}
PASSPORT = Passport("gpu01", "2026-11-18T20:00:00+00:00", "0.1.0", ("rails", "gpus"), DEPENDS)


def test_a_passport_is_one_line_and_comes_back() -> None:
    assert text(PASSPORT).count("\n") == 1
    assert parse(text(PASSPORT)) == PASSPORT
    assert text(Passport(**{**PASSPORT.__dict__, "depends": dict(reversed(DEPENDS.items()))})) == text(PASSPORT)


@pytest.mark.parametrize(
    "change",
    [
        {"more": "x"},
        {"node": None},
        {"checks": "rails"},
        {"checks": [1]},
        {"depends": ["kernel"]},
        {"depends": {"kernel": 6}},
        {"proved": "yesterday"},
        {"proved": "2026-11-18T20:00:00"},
    ],
    ids=str,
)
def test_another_text_is_none(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        parse(json.dumps({**json.loads(text(PASSPORT)), **change}))


@pytest.mark.parametrize("line", ["", "{}", "[]", "null", "{"])
def test_a_broken_text_is_none(line: str) -> None:
    with pytest.raises(ValueError):
        parse(line)


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        ({}, []),
        ({"kernel": "6.12.49"}, ["kernel was 6.12.48, and is 6.12.49 now"]),
        ({"kernel": None}, ["kernel was 6.12.48, and can't be read now"]),
        ({"driver": "580.1"}, ["driver is 580.1 now, and was not part of the proof"]),
        (
            {"intent": "77", "cable of rail0": "leaf1 Ethernet2"},
            ["cable of rail0 was leaf1 Ethernet1, and is leaf1 Ethernet2 now", "intent was 4f2a, and is 77 now"],
        ),
    ],
    ids=str,
)
def test_what_has_changed_makes_it_stale(change: dict[str, Any], sentences: list[str]) -> None:
    now = {name: value for name, value in {**DEPENDS, **change}.items() if value is not None}
    assert stale(PASSPORT, "gpu01", now, NOW, None) == sentences


@pytest.mark.parametrize(
    ("at", "days", "sentences"),
    [
        (NOW, 10, ["it is older than the 10 days that are allowed"]),
        (NOW, 11, []),
        (NOW.astimezone(timezone(timedelta(hours=2))), 11, []),
        (NOW - timedelta(days=11), 10, ["it is from 2026-11-18T20:00:00+00:00, which is in the future"]),
    ],
)
def test_age_counts_where_the_site_wants_it(at: datetime, days: int, sentences: list[str]) -> None:
    assert stale(PASSPORT, "gpu01", DEPENDS, at, days) == sentences


def test_the_passport_of_another_node_holds_for_none() -> None:
    assert stale(PASSPORT, "gpu02", DEPENDS, NOW, None) == ["it is that of gpu01"]
