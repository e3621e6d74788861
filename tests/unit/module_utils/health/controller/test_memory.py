# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.history import Mark
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.memory import (
    CHANGES,
    Notes,
    not_rebooted,
    rebooted,
    recovered,
    without_effect,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import (
    DRAIN,
    KEEP,
    LIFT,
    REASON_ONLY,
    REBOOT_NODE,
    RESUME,
    UNKEEP,
    Act,
    Memory,
    Opened,
    Seen,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import REASON

DAY = 86400.0
NOTES = Notes(
    {"site": Opened(1, "many")},
    {"n1": (2, 3)},
    {"n1": Mark(("a: b",), "a: b", "breaker site is open")},
    (Act(DRAIN, "n1", "x"),),
    ("said",),
    4,
)


def test_notes_are_read_as_they_were_written() -> None:
    assert Notes.parse(NOTES.text()) == NOTES
    assert Notes.parse(Notes().text()) == Notes()


@pytest.mark.parametrize("key", ["opened", "reboots", "marks", "done"])
@pytest.mark.parametrize("value", [None, 7, "x", ["x"], {"x": 7}])
def test_other_values_are_no_notes(key: str, value: object) -> None:
    """Unknown means lost, and a lost memory is recovered."""
    shown = json.loads(NOTES.text())
    shown[key] = value
    with pytest.raises(ValueError, match=r"no memory of|could not convert"):
        Notes.parse(json.dumps(shown))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null"])
def test_other_texts_are_no_notes(text: str) -> None:
    with pytest.raises(ValueError):
        Notes.parse(text)


def test_reboots_count_for_some_days() -> None:
    notes = Notes(reboots={"n1": (1 * DAY, 9 * DAY), "n2": (2 * DAY,)})
    assert notes.memory(7, 10 * DAY) == Memory({}, {"n1": 9 * DAY})
    assert rebooted(notes.reboots, ["n2", "n3"], 367 * DAY) == {
        "n1": (9 * DAY,),
        "n2": (2 * DAY + 365 * DAY,),
        "n3": (367 * DAY,),
    }
    assert not_rebooted({"n1": (1, 5), "n2": (5,), "n3": (5,)}, {"n1", "n2"}, 5) == {"n1": (1,), "n3": (5,)}


def test_answers_name_open_breakers() -> None:
    comments = ("a drawbridge health: {kept: breaker leaf 1 is open}", "breaker x is open", "", "drawbridge health: b")
    found = recovered([Seen(f"n{at}", "IDLE", comment=text) for at, text in enumerate(comments)], 5)
    assert [(name, it.since) for name, it in found.items()] == [("leaf 1", 5)]


@pytest.mark.parametrize(
    ("act", "node", "visible"),
    [
        (Act(DRAIN, "n1", f"{REASON}a"), Seen("n1", "IDLE", frozenset({"DRAIN"}), f"{REASON}a"), True),
        (Act(DRAIN, "n1", f"{REASON}a"), Seen("n1", "IDLE"), False),
        (Act(REASON_ONLY, "n1", f"{REASON}b"), Seen("n1", "IDLE", frozenset({"DRAIN"}), f"{REASON}a"), False),
        (Act(LIFT, "n1"), Seen("n1", "IDLE", frozenset({"DRAIN"}), f"{REASON}a"), False),
        (Act(RESUME, "n1"), Seen("n1", "IDLE", frozenset(), f"{REASON}a"), True),
        (Act(KEEP, "n1", "x"), Seen("n1", "IDLE", comment="drawbridge health: {kept: x}"), True),
        (Act(KEEP, "n1", "x"), Seen("n1", "IDLE"), False),
        (Act(UNKEEP, "n1"), Seen("n1", "IDLE", comment="drawbridge health: {kept: x}"), False),
        (Act(REBOOT_NODE, "n1", "x"), Seen("n1", "DOWN", frozenset({"DRAIN", "REBOOT_ISSUED"}), f"{REASON}a"), True),
        (Act(REBOOT_NODE, "n1", "x"), Seen("n1", "IDLE", frozenset({"DRAIN"}), f"{REASON}a"), False),
        (Act(REBOOT_NODE, "n1", "x"), Seen("n1", "IDLE", frozenset({"DRAIN"}), f"{REASON}a", booted=True), True),
        (Act(DRAIN, "gone", "x"), Seen("n1", "IDLE"), True),
    ],
)
def test_acts_without_effect(act: Act, node: Seen, visible: bool) -> None:
    said = without_effect([act], {node.name: node})
    assert said == [] if visible else [f"Slurm accepted the {CHANGES[act.kind]}, but it is not in effect: n1"]


def test_many_nodes_are_one_sentence() -> None:
    def said(names: list[str]) -> str:
        nodes = {it: Seen(it, "DOWN", reason=f"{REASON}a") for it in names}
        [found] = without_effect([Act(LIFT, it) for it in names], nodes)
        return found.rpartition(": ")[2]

    assert said([f"n{at}" for at in range(12)]) == "n[0-11]"
    assert said([f"n{at}-{at}a" for at in range(100)]) == "n0-0a and 99 more"
