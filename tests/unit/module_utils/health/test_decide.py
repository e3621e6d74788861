# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Decisions one by one. Sequences of events are in test_sequences.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import (
    DAY_S,
    DRAIN,
    KEEP,
    LIFT,
    REASON_ONLY,
    REBOOT_NODE,
    RESUME,
    UNKEEP,
    UNSETTLED,
    Act,
    Decision,
    Memory,
    Opened,
    Seen,
    decide,
    waits_for,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    FABRIC,
    NODE,
    REBOOT,
    REPAIR,
    USER,
    Finding,
    Report,
    reason,
    written,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import (
    Breaker,
    Health,
    Reboot,
)

NOW = 1_800_000_000.0
NAMES = [f"n{at}" for at in range(10)]
UNITS = {"u0": NAMES[:5], "u1": NAMES[5:]}
FULL = Finding("/: disk space: 97 % full", USER)
LINK = Finding("rail3: rail link: rail3 is down", FABRIC)
CLOCKS = Finding("GPU 1: GPU clocks: clocks are lowered: hw slowdown")
GONE = Finding("GPUs present: the driver has 7 GPUs of 8", NODE, REBOOT)
XID = Finding("GPU 0: GPU faults in the log: Xid 79, the GPU fell off the bus", NODE, REBOOT)
ROWS = Finding("GPU 3: GPU memory rows: a memory row could not be remapped", NODE, REPAIR)
REBOOTS = Health(reboot=Reboot(allowed=True))
DRAINED = frozenset({"DRAIN"})
OPEN = Memory({"site": Opened(NOW - 60, "x")})


def node(*found: Finding, state: str = "IDLE", flags: frozenset[str] = frozenset(), **own: Any) -> Seen:
    """Node n0 with a report."""
    report = Report(own.pop("site", ""), written(found), own.pop("kept", ""))
    return Seen("n0", state, flags, comment=str(report), **own)


def drained(*found: Finding, was: tuple[Finding, ...], **own: Any) -> Seen:
    """Node n0 with a report, and a drain for `was`."""
    return node(*found, **{"flags": DRAINED, "reason": reason(was), **own})


def decided(seen: Seen, health: Health = REBOOTS, memory: Memory = Memory(), **own: Any) -> list[tuple[str, str]]:  # noqa: B008
    found = decide([seen], UNITS, health, memory, NOW, **own)
    assert all(act.node == "n0" for act in found.acts)
    return [(act.kind, act.text) for act in found.acts]


def rebooted(days: float) -> Memory:
    return Memory(rebooted={"n0": NOW - days * DAY_S})


@pytest.mark.parametrize("found", [(FULL,), (LINK, FULL), (GONE,), (ROWS, CLOCKS)])
@pytest.mark.parametrize("state", ["IDLE", "ALLOCATED", "MIXED"])
def test_a_node_with_findings_is_drained_whether_jobs_run_or_not(found: tuple[Finding, ...], state: str) -> None:
    assert decided(node(*found, state=state)) == [(DRAIN, reason(written(found)))]


def test_a_node_without_findings_is_left_alone() -> None:
    assert decided(node()) == decided(node(site="RMA 4711")) == []


@pytest.mark.parametrize(
    "own",
    [
        {"flags": DRAINED, "reason": "new fan"},
        {"flags": DRAINED},
        {"flags": frozenset({"FAIL"}), "reason": "new fan"},
        {"flags": frozenset({"MAINTENANCE"})},
        {"state": "DOWN", "reason": "Not responding"},
        {"state": "DOWN", "reason": "drawbridge gate: kubelet"},
        {"flags": DRAINED, "reason": "drawbridge: hardware: 7 GPUs"},
        {"flags": DRAINED, "reason": "drawbridge: joins, not proven yet"},
        {"flags": DRAINED, "reason": "see drawbridge: health: x"},
    ],
)
@pytest.mark.parametrize("found", [(), (FULL,), (GONE, ROWS)])
@pytest.mark.parametrize("booted", [False, True])
def test_a_node_that_another_keeps_from_jobs_is_left_alone(own: Any, found: Any, booted: bool) -> None:
    assert decided(node(*found, booted=booted, **own), proofs=["n0"]) == []


@pytest.mark.parametrize(("fault", "state"), [(FULL, "IDLE"), (LINK, "ALLOCATED"), (CLOCKS, "MIXED")])
def test_a_drain_ends_with_its_finding(fault: Finding, state: str) -> None:
    assert decided(drained(was=(fault,), state=state), proofs=["n0"]) == [(LIFT, "")]
    assert decided(drained(fault, was=(fault,), state=state)) == []


def test_the_reason_follows_the_findings() -> None:
    assert decided(drained(LINK, was=(FULL,))) == [(REASON_ONLY, reason([LINK]))]
    assert decided(drained(LINK, FULL, was=(FULL,))) == [(REASON_ONLY, reason([LINK, FULL]))]


def test_a_repair_is_never_taken_back_by_a_program() -> None:
    for booted in (False, True):
        assert decided(drained(was=(ROWS,), booted=booted)) == []
    assert decided(drained(FULL, was=(ROWS,))) == [(REASON_ONLY, reason([ROWS, FULL]))]
    assert decided(drained(FULL, was=(ROWS, FULL))) == []
    other = Finding("GPU 5: GPU product: it is another", NODE, REPAIR)
    assert decided(drained(other, was=(ROWS,))) == [(REASON_ONLY, reason([other]))]


def test_a_node_is_rebooted_once_when_its_jobs_have_ended() -> None:
    assert decided(drained(GONE, was=(GONE,), state="ALLOCATED")) == []
    assert decided(drained(GONE, was=(GONE,))) == [(REBOOT_NODE, reason([GONE]))]
    assert decided(drained(GONE, was=(GONE,)), memory=rebooted(6.9)) == []
    assert decided(drained(GONE, was=(GONE,)), memory=rebooted(7.1)) == [(REBOOT_NODE, reason([GONE]))]
    assert decide([drained(GONE, was=(GONE,))], UNITS, REBOOTS, Memory(), NOW).memory.rebooted == {"n0": NOW}


def test_without_consent_no_node_is_rebooted() -> None:
    assert decided(drained(GONE, was=(GONE,)), Health()) == decided(drained(was=(GONE,)), Health()) == []


def test_a_finding_that_needs_a_person_comes_before_a_reboot() -> None:
    assert decided(drained(GONE, ROWS, was=(ROWS, GONE))) == []


def test_a_person_who_works_on_a_reserved_node_is_not_surprised_by_a_reboot() -> None:
    assert decided(drained(GONE, was=(GONE,), flags=DRAINED | {"MAINTENANCE"})) == []


def test_a_node_without_findings_returns_after_its_reboot() -> None:
    assert decided(drained(was=(GONE,), booted=True)) == [(LIFT, "")]
    back = node(state="DOWN", reason=reason([GONE]), booted=True)
    assert decided(back, memory=rebooted(0.01)) == [(RESUME, "")]


def test_a_finding_that_is_gone_before_the_reboot_still_needs_it() -> None:
    assert decided(drained(was=(GONE,))) == [(REBOOT_NODE, reason([GONE]))]
    assert decided(drained(FULL, was=(GONE,))) == [(REASON_ONLY, reason([GONE, FULL]))]
    assert decided(drained(FULL, was=(GONE, FULL))) == [(REBOOT_NODE, reason([GONE, FULL]))]


def test_a_finding_that_lasts_after_a_reboot_needs_a_repair() -> None:
    repair = replace(GONE, ends=REPAIR)
    back = node(GONE, state="DOWN", reason=reason([GONE]), booted=True)
    assert decided(back, memory=rebooted(0.01)) == [(REASON_ONLY, reason([repair]))]
    assert decided(drained(GONE, was=(GONE,), booted=True), Health()) == [(REASON_ONLY, reason([repair]))]
    for days in (0.01, 8.0):
        assert decided(drained(GONE, was=(repair,), booted=True), memory=rebooted(days)) == []


def test_a_reboot_that_takes_long_is_waited_for() -> None:
    late = drained(GONE, was=(GONE,), state="DOWN")
    assert decided(late, memory=rebooted(0.01)) == []
    assert decided(replace(late, comment="", booted=True), memory=rebooted(0.01)) == [(RESUME, "")]


def test_a_node_with_the_same_fault_again_waits_for_a_person() -> None:
    assert decided(node(XID), memory=rebooted(2)) == [(DRAIN, reason([replace(XID, ends=REPAIR)]))]
    assert decided(node(XID), memory=rebooted(8)) == [(DRAIN, reason([XID]))]


def test_after_a_reboot_a_class_with_passports_needs_a_proof() -> None:
    [(kind, text)] = decided(drained(was=(GONE,), booted=True), proofs=["n0"])
    assert kind == REASON_ONLY
    assert text == (
        "drawbridge: health: [node repair] 60-passport: it had GPUs present: the driver has 7 GPUs of 8, and needs a "
        "new proof after its reboot"
    )
    assert decided(node(flags=DRAINED, reason=text, booted=True), proofs=["n0"]) == []
    [(kind, other)] = decided(drained(FULL, was=(GONE,), booted=True), proofs=["n0"])
    assert kind == REASON_ONLY and other == f"{text}; {FULL}"
    assert decided(drained(was=(FULL,), booted=True), proofs=["n0"]) == [(LIFT, "")]


@pytest.mark.parametrize("flag", sorted(UNSETTLED))
def test_a_node_that_is_not_settled_is_drained_at_most(flag: str) -> None:
    flags = DRAINED | {flag}
    for found in ((), (FULL,), (GONE,), (ROWS,)):
        for booted in (False, True):
            assert decided(drained(*found, was=(GONE,), flags=flags, booted=booted)) == []
    assert decided(node(FULL, flags=frozenset({flag}))) == [(DRAIN, reason([FULL]))]


def test_a_node_that_slurm_lost_stays_down_when_its_drain_ends() -> None:
    lost = drained(was=(FULL,), state="DOWN", lost=True)
    assert decided(lost) == [(LIFT, "")]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("GPU clocks",), (CLOCKS,)),
        (("60-passport",), (Finding("60-passport: none"),)),
        (("rail link", "disk space"), (LINK, FULL)),
        (("rail link",), tuple(Finding(f"rail{at}: rail link: {'x' * 90}") for at in range(8))),
    ],
)
def test_a_check_that_only_reports_drains_no_node(names: tuple[str, ...], found: tuple[Finding, ...]) -> None:
    health = Health(report_only=names)
    assert decided(node(*found), health) == []
    assert decided(node(*found, ROWS), health)[0][0] == DRAIN
    assert decided(drained(*found, was=found[:1]), health) == [(LIFT, "")]


def test_another_check_with_a_similar_name_counts() -> None:
    assert decided(node(CLOCKS), Health(report_only=("clocks", "GPU", "GPU clock")))[0][0] == DRAIN


def test_findings_of_others_count_like_those_of_the_node() -> None:
    told = Finding("GpuNvlinkWatch: link 3; fatal\nerror {Reason=x} [gpu]")
    plain = Finding("GpuNvlinkWatch: link 3, fatal error (Reason = x) (gpu)")
    others = {"n0": [told], "n1": [FULL]}
    assert decided(node(), others=others) == [(DRAIN, reason([plain]))]
    assert decided(drained(was=(plain,)), others=others) == []
    assert decided(drained(was=(plain,)), others={}) == [(LIFT, "")]


def test_an_open_breaker_answers_each_node_once_and_drains_none() -> None:
    kept = "breaker site is open"
    assert decided(node(FULL), memory=OPEN) == decided(node(), memory=OPEN) == [(KEEP, kept)]
    assert decided(node(FULL, kept=kept), memory=OPEN) == decided(node(kept=kept), memory=OPEN) == []
    assert decided(drained(was=(FULL,), kept=kept), memory=OPEN) == [(LIFT, "")]
    assert decided(node(kept=kept)) == [(UNKEEP, "")]
    assert decided(node(FULL, kept=kept)) == [(UNKEEP, ""), (DRAIN, reason([FULL]))]
    assert decided(node(kept=kept), memory=Memory({"u0": Opened(NOW, "")})) == [(KEEP, "breaker u0 is open")]
    assert decided(node(FULL), memory=Memory({"u1": Opened(NOW, "")})) == [(DRAIN, reason([FULL]))]


def test_a_node_without_its_passport_takes_no_job_whatever_breakers_say() -> None:
    unproved = Finding("60-passport: it has none")
    assert decided(node(unproved), memory=OPEN) == [(KEEP, "breaker site is open"), (DRAIN, reason([unproved]))]
    assert (DRAIN, reason([unproved, FULL])) in decided(node(unproved, FULL), memory=OPEN)
    nodes = [Seen(name, "IDLE", comment=str(Report("", (unproved,)))) for name in NAMES]
    found = decide(nodes, UNITS, Health(), Memory(), NOW)
    assert not found.opened and [act.kind for act in found.acts] == [DRAIN] * 10
    drains = [Seen(name, "IDLE", DRAINED, reason([unproved])) for name in NAMES]
    assert not decide(drains, UNITS, Health(), Memory(), NOW).opened


def of_all(found: dict[str, Finding], memory: Memory = Memory()) -> Decision:  # noqa: B008
    nodes = [Seen(name, "IDLE", comment=str(Report("", tuple(filter(None, [found.get(name)]))))) for name in NAMES]
    return decide(nodes, UNITS, Health(breaker=Breaker(least=2)), memory, NOW)


def test_more_findings_than_the_limit_open_a_breaker_and_drain_none() -> None:
    found = of_all(dict.fromkeys(["n0", "n5", "n6"], FULL))
    assert found.opened == ("site",)
    assert found.memory.opened == {"site": Opened(NOW, "findings would keep 3 of 10 nodes drained, the limit is 2")}
    assert list(found.acts) == [Act(KEEP, name, "breaker site is open") for name in NAMES]
    again = of_all(dict.fromkeys(["n0", "n5", "n6"], FULL), found.memory)
    assert again.opened == () and again.memory.opened == found.memory.opened


def test_an_open_breaker_keeps_its_time_and_its_reason() -> None:
    nodes = [replace(drained(FULL, was=(FULL,)), name=name) for name in NAMES]
    assert decide(nodes, UNITS, Health(), Memory(), NOW).opened == ("site",)
    for name in ("site", "u0"):
        before = Memory({name: Opened(NOW - 60, "x")})
        assert decide(nodes, UNITS, Health(), before, NOW).memory.opened[name] == before.opened[name]
    assert decide(nodes, UNITS, Health(), OPEN, NOW).opened == ()


def test_wishes_behind_an_open_breaker_do_not_count_for_the_site() -> None:
    found = of_all(dict.fromkeys(["n0", "n1", "n2", "n5"], FULL), Memory({"u0": Opened(NOW - 60, "x")}))
    assert found.opened == () and [act.node for act in found.acts if act.kind == DRAIN] == ["n5"]


def test_findings_within_the_limit_open_none() -> None:
    found = of_all(dict.fromkeys(["n0", "n5"], FULL))
    assert not found.opened and [act.kind for act in found.acts] == [DRAIN, DRAIN]


@pytest.mark.parametrize(
    ("was", "rule", "words"),
    [
        (FULL, Reboot(), "the drain ends when its findings are gone"),
        (GONE, Reboot(allowed=True), "it is rebooted once when its jobs have ended"),
        (GONE, Reboot(), "reboot it, and its drain ends when its findings are gone"),
        (ROWS, Reboot(allowed=True), "repair it, then prove it"),
    ],
)
def test_what_a_node_waits_for(was: Finding, rule: Reboot, words: str) -> None:
    assert waits_for(drained(was=(was,)), rule) == words
    assert waits_for(node(was), rule) == waits_for(node(flags=DRAINED, reason="new fan"), rule) == ""
