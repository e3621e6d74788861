# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds after any sequence of events: findings, jobs, people, other programs, lost nodes, reboots and looks."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.breaker import SITE
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import (
    DAY_S,
    DRAIN,
    KEEP,
    LIFT,
    REBOOT_NODE,
    RESUME,
    UNKEEP,
    UNSETTLED,
    Act,
    Decision,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    FABRIC,
    NODE,
    REBOOT,
    REPAIR,
    USER,
    Finding,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import (
    Breaker,
    Health,
    Reboot,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.module_utils.health.simulated import HEALTH, PERSON, SLURM, Controller, Record, site

FULL = Finding("/: disk space: 97 % full", USER)
FULLER = Finding("/: disk space: 99 % full", USER)
LINK = Finding("rail3: rail link: rail3 is down", FABRIC)
GONE = Finding("GPUs present: the driver has 7 GPUs of 8", NODE, REBOOT)
XID = Finding("GPU 0: GPU faults in the log: Xid 79", NODE, REBOOT)
ROWS = Finding("GPU 3: GPU memory rows: no row is left", NODE, REPAIR)
QUIET = Finding("GPU 1: GPU clocks: clocks are lowered")
UNPROVED = Finding("60-passport: it has none")
OTHER = Finding("GpuNvlinkWatch: link 3; see\nthe log")
FOUND = ((), (), (FULL,), (FULLER,), (LINK,), (GONE,), (XID, GONE), (ROWS,), (GONE, FULL), (ROWS, LINK), (QUIET,))
FOUND += ((UNPROVED,), (UNPROVED, FULL))
SIZES, NODES = (3, 2), 5
EVENTS = (
    *(("report",) * 6),
    *("reports", "itself", "others", "drains", "lifts", "maintenance", "job", "job", "epilog", "loses", "returns"),
    *("boots", "issues", "issues", "late", "gate", "closes", "day", "week"),
)
EVENT = st.tuples(st.sampled_from(EVENTS), st.integers(0, NODES - 1), st.integers(0, len(FOUND) - 1))
ROUNDS = st.lists(st.lists(EVENT, min_size=1, max_size=4), max_size=12)
SITES = st.builds(
    lambda least, allowed, proofs: site(
        SIZES, Health(Breaker(least=least), Reboot(allowed=allowed), report_only=("GPU clocks",)), proofs
    ),
    st.sampled_from([1, 2, 5]),
    st.booleans(),
    st.sets(st.sampled_from([f"n{at:02}" for at in range(NODES)])),
)


class Watched:
    """A site whose every look is judged."""

    def __init__(self, controller: Controller) -> None:
        self.site, self.slurm = controller, controller.slurm
        self.reboots: dict[str, list[float]] = {}

    def happen(self, kind: str, number: int, variant: int) -> None:
        """One event at one node."""
        name = f"n{number:02}"
        getattr(self, f"_{kind}")(name, self.slurm.records[name], FOUND[variant])

    def _report(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        if "NOT_RESPONDING" not in own.flags:
            self.site.report(name, *found)

    def _reports(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        for other in self.slurm.records:
            self._report(other, self.slurm.records[other], found)

    def _itself(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        if found and "NOT_RESPONDING" not in own.flags:
            self.site.drain_itself(name, *found)

    def _others(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.site.others[name] = (OTHER,) if found else ()

    def _drains(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.slurm.drain(name, "new fan", PERSON)

    def _lifts(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        if "DRAIN" in own.flags or own.state == "DOWN":
            self.slurm.scontrol(["scontrol", "update", f"nodename={name}", "state=resume"])

    def _maintenance(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        flag = {"MAINTENANCE"}
        self.slurm.change(name, flag - own.flags, flag & own.flags)

    def _job(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        if own.state == "ALLOCATED":
            self.slurm.change(name, {"COMPLETING"})
        elif own.state == "IDLE" and own.available and not own.flags & UNSETTLED:
            self.slurm.change(name, state="ALLOCATED")

    def _epilog(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        if "COMPLETING" in own.flags:
            self.slurm.change(name, (), {"COMPLETING"}, state="IDLE")

    def _loses(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.slurm.lose(name)

    def _returns(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.slurm.register(name)

    def _boots(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        """A node looks at itself before it registers."""
        self.site.report(name, *found)
        self.slurm.register(name, booted=True)

    def _issues(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.slurm.issue(name)

    def _late(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.slurm.late(name)

    def _gate(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        """The gate returns a node that Slurm lost."""
        if own.by == SLURM and own.lost and not own.flags & {"DRAIN", "NOT_RESPONDING"}:
            self._lifts(name, own, found)

    def _closes(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.site.close(next(iter(self.site.memory.opened), ""))

    def _day(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.slurm.now += int(DAY_S)

    def _week(self, name: str, own: Record, found: Sequence[Finding]) -> None:
        self.slurm.now += 7 * int(DAY_S)

    def look(self) -> None:
        """One look, and a second one at once: it only reboots nodes that the first one made ready for that."""
        self.judge(self.site.decide())
        again = self.site.decide()
        assert {act.kind for act in again.acts} <= {REBOOT_NODE}, again.acts
        self.judge(again)
        assert self.site.decide().acts == ()

    def judge(self, found: Decision) -> None:
        """Judge a decision, then do it."""
        drains = [act for act in found.acts if act.kind == DRAIN and self.slurm.records[act.node].available]
        fresh = {act.node for act in drains if str(UNPROVED) not in act.text}
        for act in found.acts:
            self._judge_act(act, self.slurm.records[act.node])
        assert not any(fresh & it.nodes for it in self.site.domains() if it.name in found.memory.opened)
        assert found.memory.opened.keys() == self.site.memory.opened.keys() | {*found.opened}
        self.site.act(found)
        now = self.site.counted()
        closed = [it for it in self.site.domains() if not found.memory.opened.keys() & {it.name, SITE}]
        assert all(len(it.nodes & now) <= it.most for it in closed)

    def _judge_act(self, act: Act, own: Record) -> None:
        if act.kind in (KEEP, UNKEEP):
            return
        mine = own.by == HEALTH and not own.available
        assert mine or (act.kind == DRAIN and own.available), (act, own)
        assert act.kind == DRAIN or not own.flags & UNSETTLED, (act, own)
        if act.kind in (LIFT, RESUME):
            assert not own.owes and not (own.asked and own.name in self.site.proofs), (act, own)
            assert act.kind == LIFT or not own.lost, (act, own)
        if act.kind == REBOOT_NODE:
            self._judge_reboot(own)

    def _judge_reboot(self, own: Record) -> None:
        rule, now = self.site.health.reboot, self.slurm.now
        assert rule.allowed and own.state in ("IDLE", "DOWN") and not own.flags & {"MAINTENANCE", "FAIL"}
        before = self.reboots.setdefault(own.name, [])
        assert all(now - then >= rule.again_days * DAY_S for then in before)
        before.append(now)

    def repair(self) -> None:
        """All faults end, all nodes answer, all jobs are over, and nodes that wait for their reboot get it."""
        self.site.others.clear()
        for name in self.slurm.records:
            self.slurm.change(name, (), {"MAINTENANCE", "COMPLETING"})
            if self.slurm.records[name].state == "ALLOCATED":
                self.slurm.change(name, state="IDLE")
            self.slurm.register(name)
        for _turn in range(4):
            for name in self.slurm.records:
                self.site.report(name)
                self.slurm.issue(name)
                if "REBOOT_ISSUED" in self.slurm.records[name].flags:
                    self.slurm.register(name, booted=True)
            self.look()


def run(controller: Controller, rounds: Sequence[Sequence[tuple[str, int, int]]]) -> Watched:
    found = Watched(controller)
    for events in rounds:
        for event in events:
            found.happen(*event)
        found.look()
    return found


NOTHING, DISK, MISSING = FOUND.index(()), FOUND.index((FULL,)), FOUND.index((GONE,))
ASKED = [[("report", 0, MISSING)], [("issues", 0, 0)]]
"""A node is drained, and its reboot has begun."""


def after(rounds: Sequence[Sequence[tuple[str, int, int]]], *proofs: str, allowed: bool = True) -> tuple[str, str]:
    """State and reason of n00 after these rounds, and the site's word for a drain that is over."""
    controller = site(SIZES, Health(reboot=Reboot(allowed=allowed)), proofs)
    own = run(controller, rounds).slurm.records["n00"]
    return "+".join([own.state, *sorted(own.flags)]), own.reason.replace("drawbridge: health: ", "")


def test_a_node_is_drained_rebooted_and_returned() -> None:
    assert after(ASKED[:1]) == ("IDLE+DRAIN+REBOOT_REQUESTED", str(GONE))
    assert after(ASKED) == ("DOWN+DRAIN+REBOOT_ISSUED", f"{GONE} : reboot issued")
    assert after([*ASKED, [("boots", 0, NOTHING)]])[0] == "IDLE"
    assert after([*ASKED, [("late", 0, 0)]])[0] == "DOWN+DRAIN+NOT_RESPONDING"
    assert after([*ASKED, [("late", 0, 0)], [("boots", 0, NOTHING)]])[0] == "IDLE"
    state, reason = after([*ASKED, [("boots", 0, MISSING)]])
    assert (state, reason) == ("DOWN+DRAIN", str(GONE).replace("reboot]", "repair]"))
    assert after(ASKED, allowed=False) == ("IDLE+DRAIN", str(GONE))
    assert after([*ASKED, [("boots", 0, NOTHING)]], allowed=False)[0] == "IDLE"


def test_a_node_of_a_class_with_passports_waits_for_a_proof_after_its_reboot() -> None:
    state, reason = after([*ASKED, [("boots", 0, NOTHING)], [("week", 0, 0)], [("boots", 0, NOTHING)]], "n00")
    assert state == "DOWN+DRAIN" and reason.startswith("[node repair] 60-passport: it had GPUs present: ")


def test_a_node_that_slurm_lost_is_left_to_the_program_that_returns_such_nodes() -> None:
    gone = [[("report", 0, DISK)], [("loses", 0, 0)]]
    assert after(gone) == ("DOWN+DRAIN+NOT_RESPONDING", f"{FULL} : Not responding")
    more = [*gone, [("returns", 0, 0), ("report", 0, FOUND.index((LINK,)))]]
    assert after(more) == ("DOWN+DRAIN", f"{LINK} : Not responding")
    assert after([*more, [("report", 0, NOTHING)]]) == ("DOWN", "Not responding")
    assert after([*more, [("report", 0, NOTHING)], [("returns", 0, 0)]])[0] == "IDLE"


def test_a_lost_node_that_waits_for_its_reboot_gets_it() -> None:
    rounds = [[("itself", 0, MISSING), ("loses", 0, 0)], [("returns", 0, 0)]]
    assert after(rounds) == ("DOWN+DRAIN+REBOOT_REQUESTED", str(GONE))
    silent = [*ASKED[:1], [("loses", 0, 0)], [("returns", 0, 0)], *ASKED[1:]]
    assert after(silent)[1] == f"{GONE} : Not responding : reboot issued"
    assert after([*silent, [("boots", 0, NOTHING)]])[0] == "IDLE"


def test_a_node_that_waits_for_its_reboot_counts_until_its_reason_changes() -> None:
    controller = site(SIZES, Health(Breaker(least=2), Reboot(allowed=True)))
    rounds = [[("report", 1, MISSING), ("report", 2, DISK)], [("report", 0, DISK), ("report", 1, len(FOUND) - 2)]]
    assert set(run(controller, rounds).site.memory.opened) == {"u0"}


@settings(max_examples=150)
@given(SITES, ROUNDS)
def test_no_look_breaks_a_rule(controller: Controller, rounds: list[list[tuple[str, int, int]]]) -> None:
    run(controller, rounds)


@settings(max_examples=60)
@given(SITES, ROUNDS)
def test_a_repaired_node_waits_only_for_a_person(
    controller: Controller, rounds: list[list[tuple[str, int, int]]]
) -> None:
    watched = run(controller, rounds)
    watched.repair()
    rule = controller.health.reboot
    for own in controller.slurm.records.values():
        if own.by != HEALTH:
            assert own.available or own.by == PERSON or own.lost, own
            continue
        rebooted = any(controller.slurm.now - it < rule.again_days * DAY_S for it in watched.reboots.get(own.name, ()))
        shut = "{kept: " in own.comment
        reboot = REBOOT in own.owes and (not rule.allowed or rebooted or shut)
        assert REPAIR in own.asked or reboot, own
        assert not own.available and "DRAIN" in own.flags, own
