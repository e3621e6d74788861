# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of a node's health: since when, how often, reboots, and notes of open breakers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roles.drawbridge_status.files.status import health_text, slurm_text, view
from roles.drawbridge_status.files.status.health_finding import Finding, Report
from roles.drawbridge_status.files.status.model import Event, Seen, Site, SlurmNode

NOW = 1764000000.0
DAY = 86400.0
ROWS = "GPU 3: GPU memory rows: a memory row could not be remapped"
REPAIR = f"[node repair] {ROWS}"
LINK = "[fabric] rail3: rail link: eth3 is down"


def node(reason: str = "", comment: str = "") -> SlurmNode:
    """A node with this reason, drained if there is one."""
    return SlurmNode("gpu01", "IDLE", frozenset({"DRAIN"} if reason else ()), reason, "root", "", (), comment)


def line(time: float, what: str, text: str = "", name: str = "gpu01") -> str:
    return json.dumps({"time": time, "node": name, "what": what, "text": text})


def test_history_is_the_nodes_own_of_thirty_days_in_order() -> None:
    lines = [
        line(NOW, "found", "y"),
        line(NOW, "drained", "x"),
        line(NOW - DAY, "found", "x"),
        line(NOW - 31 * DAY, "found", "old"),
        line(NOW, "found", "x", "gpu02"),
        line(NOW, "gpu01", "x", "gpu02"),
        '{"node": "gpu01"',
        '["gpu01"]',
        '{"node": "gpu01", "what": "found", "time": "soon"}',
        "",
    ]
    assert health_text.events(lines, "gpu01", NOW) == told((1, "found", "x"), (0, "found", "y"), (0, "drained", "x"))


def told(*events: tuple[float, str, str]) -> tuple[Event, ...]:
    return tuple(Event(NOW - ago * DAY, what, text) for ago, what, text in events)


@pytest.mark.parametrize(
    ("history", "since", "times"),
    [
        ((), None, 0),
        (told((9, "found", REPAIR)), 9, 1),
        (told((9, "found", REPAIR), (8, "gone", REPAIR)), None, 1),
        (told((9, "found", REPAIR), (8, "gone", REPAIR), (2, "found", REPAIR)), 2, 2),
        (told((9, "found", REPAIR), (3, "found", REPAIR)), 9, 2),
        # other words of the same check, other parts, other checks, and another event
        (told((9, "found", f"{LINK}; GPU 3: GPU memory rows: a row waits")), 9, 1),
        (told((9, "found", "GPU 4: GPU memory rows: a row waits"), (8, "found", "GPU 3: GPU clocks: slow")), None, 0),
        (told((9, "drained", REPAIR)), None, 0),
    ],
)
def test_since_when_and_how_often(history: tuple[Event, ...], since: float | None, times: int) -> None:
    found: dict[str, Any] = health_text.document(node(f"drawbridge: health: {REPAIR}"), history)["findings"][0]
    ago = None if found["since"] is None else (NOW - found["since"]) / DAY
    assert (ago, found["times"], found["fault"], found["ends"]) == (since, times, "node", "repair")
    assert found["page"].endswith("/docs/guides/findings.md#gpu-memory-rows")


def test_one_node_has_its_findings_with_class_page_and_history() -> None:
    history = told((3, "found", REPAIR), (3, "drained", REPAIR), (2, "rebooted", ""), (1, "rebooted", ""))
    slurm = node(f"drawbridge: health: {REPAIR}", str(Report("RMA", (Finding(ROWS, "node", "repair"),))))
    seen = Seen({"gpu01": slurm}, history={"gpu01": history})
    (row,) = view.rows(seen, Site())
    text = view.explain(row, seen)
    at = text.index(ROWS)
    assert text[at - 1 :] == [
        "",
        ROWS,
        "  fault of the node; its drain ends by a proof or by a person",
        "  found since 2025-11-21T16:00:00Z, once in 30 days",
        "  https://github.com/drawbridge/drawbridge/blob/main/docs/guides/findings.md#gpu-memory-rows",
        "",
        "Health in the last 30 days: found once, drained once, rebooted 2 times.",
        f"  2025-11-21T16:00:00Z found    {REPAIR}",
        f"  2025-11-21T16:00:00Z drained  {REPAIR}",
        "  2025-11-22T16:00:00Z rebooted",
        "  2025-11-23T16:00:00Z rebooted",
    ]
    plain = view.document([row], seen)["nodes"][0]["health"]
    assert [it["what"] for it in plain["history"]] == ["found", "drained", "rebooted", "rebooted"]
    assert json.loads(json.dumps(plain)) == plain


def test_a_finding_that_drains_nothing_has_no_end() -> None:
    text = health_text.lines(node(comment=f"drawbridge health: {LINK} {{kept: breaker site is open}}"), ())
    page = "https://github.com/drawbridge/drawbridge/blob/main/docs/guides/findings.md#rail-link"
    assert text == ["", "rail3: rail link: eth3 is down", "  fault of the fabric", f"  {page}"]


def test_a_long_history_shows_its_end() -> None:
    history = told(*((9, "kept", str(number)) for number in range(14)))
    text = health_text.lines(node(), history)
    assert text[1:4] == [
        "Health in the last 30 days: no drain.",
        "  4 earlier events",
        "  2025-11-15T16:00:00Z kept     4",
    ]
    assert len(text) == 13


def test_a_node_without_findings_has_no_lines() -> None:
    assert health_text.lines(node("new fan", "RMA 4711"), ()) == health_text.lines(None, ()) == []


def test_a_finding_that_drains_and_is_reported_is_shown_once() -> None:
    slurm = node(f"drawbridge: health: {REPAIR}", f"drawbridge health: {REPAIR.replace('could', 'can')}; {LINK}")
    assert [it.text for it in health_text.current(slurm)] == [ROWS, "rail3: rail link: eth3 is down"]
    # slurmctld appends its own texts
    again = slurm._replace(reason=f"{slurm.reason} : reboot issued : Not responding")
    assert health_text.current(again) == health_text.current(slurm)
    # the reason stays after the drain, and proves nothing then
    back = slurm._replace(flags=frozenset(), comment="")
    assert health_text.current(back) == ()


def test_findings_under_the_drain_of_a_person_are_shown_beside_it() -> None:
    slurm = node("new fan", f"drawbridge health: {LINK}")
    (found,) = health_text.reported(slurm)
    assert (found.level, found.word) == (1, "reported")
    assert found.cause.endswith("(fault of the fabric); its drain has another reason")
    assert list(health_text.reported(slurm._replace(reason=f"drawbridge: health: {LINK}"))) == []


def test_an_open_breaker_is_a_note_with_the_command_that_closes_it() -> None:
    kept = "drawbridge health: {{kept: breaker {} is open}}"
    comments = [kept.format("site"), f"RMA {kept.format('site')}", kept.format("leaf01-08"), "RMA", ""]
    notes = health_text.breakers(node(comment=comment) for comment in comments)
    assert [note.partition(";")[0] for note in notes] == [
        "breaker leaf01-08 is open: findings drain no node of it",
        "breaker site is open: findings drain no node of it",
    ]
    assert notes[1].endswith("drawbridge-health close site")


@pytest.mark.parametrize(
    ("end", "comment"),
    [
        ("Reason=a [root@now] Comment=RMA 4711 Extra=b InstanceId=c", "RMA 4711"),
        ("Comment=Case=4711 drawbridge health: a ReservationName=b", "Case=4711 drawbridge health: a"),
        ("Comment=a  \n", "a"),
        ("Reason=a [root@now]", ""),
    ],
)
def test_a_comment_is_read_whole(end: str, comment: str) -> None:
    assert slurm_text.node(f"NodeName=gpu01 State=IDLE {end}").comment == comment
