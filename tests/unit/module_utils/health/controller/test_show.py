# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.history import (
    Entry,
    of_node,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.show import (
    CRITICAL,
    OK,
    WARNING,
    Shown,
    by_findings,
    document,
    findings,
    level,
    lines,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Opened, Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import REASON, Finding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health, Reboot
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.pages import page

DAY = 86400.0
DRAIN = frozenset({"DRAIN"})
ROWS, LINK = "[node repair] GPU 3: GPU memory rows: failed", "[fabric] rail3: rail link: down"
OPEN = {"site": Opened(0, "findings would keep 7 of 20 nodes drained, the limit is 2")}


def row(node: Seen, *others: Finding, proof: bool = False, health: Health | None = None) -> Shown:
    entries = [
        Entry(at * DAY, "n1", what, ROWS) for at, what in ((1, "found"), (2, "gone"), (40, "found"), (41, "rebooted"))
    ]
    history = tuple(of_node(entries, "n1", 50 * DAY))
    return Shown(node, findings(node, others), history, health or Health(), proof, "prove n1")


def test_a_repair_is_explained() -> None:
    found = row(Seen("n1", "IDLE", DRAIN, f"{REASON}{ROWS}", f"drawbridge health: {ROWS}; {LINK}"))
    assert lines([found], {}) == [
        "n1 (IDLE+DRAIN): findings keep it drained",
        f"  {ROWS}",
        "    fault of the node, ends with a repair; found since 1970-02-10T00:00:00Z, once in 30 days",
        f"    {page('GPU 3: GPU memory rows: failed')}",
        f"  {LINK}",
        "    fault of the fabric",
        f"    {page('rail3: rail link: down')}",
        "  tried: rebooted 1970-02-11T00:00:00Z",
        "  next: repair it, then prove it: prove n1; or: drawbridge-health lift n1",
    ]
    assert level([found], {}) == CRITICAL


@pytest.mark.parametrize(
    ("node", "state", "step", "worst"),
    [
        (Seen("n1", "IDLE"), "no finding", "", OK),
        (
            Seen("n1", "IDLE", DRAIN, f"{REASON}{LINK}"),
            "findings keep it drained",
            "the drain ends when its findings are gone",
            WARNING,
        ),
        (
            Seen("n1", "IDLE", comment=f"drawbridge health: {LINK} {{kept: breaker site is open}}"),
            "it has findings and takes jobs",
            "it stays in service, because breaker site is open; look at all findings, then close the breaker",
            WARNING,
        ),
        (
            Seen("n1", "IDLE", DRAIN, "fan", f"drawbridge health: {LINK}"),
            "it has findings, and its drain has another reason: fan",
            "repair it before that drain ends; otherwise its findings drain it",
            WARNING,
        ),
        (
            Seen("n1", "IDLE", comment=f"drawbridge health: {LINK}"),
            "it has findings and takes jobs",
            "the next look drains it, unless drawbridge_health.report_only names its checks",
            WARNING,
        ),
    ],
)
def test_states_and_next_steps(node: Seen, state: str, step: str, worst: int) -> None:
    found = row(node)
    assert (found.state, found.next, found.level) == (state, step, worst)


def test_a_class_with_passports_is_only_proved() -> None:
    found = row(Seen("n1", "IDLE", DRAIN, f"{REASON}{ROWS}"), proof=True)
    assert found.next.endswith(": prove n1")


def test_a_reboot_is_said_as_the_site_allows_it() -> None:
    node = Seen("n1", "IDLE", DRAIN, f"{REASON}[node reboot] x: y")
    assert row(node).next.startswith("reboot it")
    assert row(node, health=replace(Health(), reboot=Reboot(True))).next.startswith("it is rebooted once")


def test_findings_of_others_are_shown_once() -> None:
    node = Seen("n1", "IDLE", comment=f"drawbridge health: {LINK}")
    found = row(node, Finding("rail3: rail link: down again", "fabric"), Finding("cordon: by kubectl"))
    assert [it.text for it in found.findings] == ["rail3: rail link: down", "cordon: by kubectl"]
    assert by_findings(
        [node, Seen("n2", "IDLE"), Seen("n3", "IDLE"), Seen("n4", "IDLE", DRAIN, f"{REASON}x")], {"n3": [Finding("y")]}
    ) == [
        node,
        Seen("n3", "IDLE"),
        Seen("n4", "IDLE", DRAIN, f"{REASON}x"),
    ]


def test_an_open_breaker_needs_a_person() -> None:
    assert level([], OPEN) == CRITICAL
    assert lines([], OPEN) == [
        "breaker site is open since 1970-01-01T00:00:00Z: findings would keep 7 of 20 nodes drained, the limit is 2; "
        "to close it: drawbridge-health close site"
    ]
    assert (level([], {}), lines([], {})) == (OK, ["no node has a finding"])


def test_all_of_it_as_json() -> None:
    node = Seen("n1", "IDLE", DRAIN, f"{REASON}{ROWS}")
    found = json.loads(json.dumps(document([row(node)], OPEN)))
    assert (found["version"], found["level"], found["breakers"]["site"]["since"]) == (1, CRITICAL, 0)
    [one] = found["nodes"]
    assert (one["name"], one["state"], one["drained"], one["rebooted"]) == ("n1", "IDLE+DRAIN", True, [41 * DAY])
    [finding] = one["findings"]
    assert (finding["text"], finding["fault"], finding["ends"]) == ("GPU 3: GPU memory rows: failed", "node", "repair")
    assert (finding["since"], finding["times"], finding["page"]) == (40 * DAY, 1, page(finding["text"]))
