# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurmctld with its records of nodes, and the controller that decides about them.

Records are printed, and changed by scontrol, as sources of Slurm 24.11 say. Each one also knows what Slurm does not:
who keeps the node from jobs, and what its drain still needs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health import breaker
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller import control, records
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import (
    DAY_S,
    Act,
    Decision,
    Memory,
    Seen,
    decide,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    REBOOT,
    REPAIR,
    Finding,
    Report,
    written,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.passport_io import PART

HEALTH, PERSON, SLURM = "health", "person", "slurm"
"""Who keeps a node from jobs."""
KEEPS = frozenset({"DRAIN", "FAIL", "MAINTENANCE"})
BOOT_S = 240
LINE = (
    "NodeName={0} Arch=x86_64 CoresPerSocket=56 CPUAlloc=0 CPUTot=224 AvailableFeatures=(null) Gres=gpu:h100:8(S:0-1)"
    " NodeAddr={0} NodeHostName={0} Version=24.11.5 OS=Linux 6.12.48 RealMemory=2050000 State={1} ThreadsPerCore=2"
    " Partitions=train BootTime={2} SlurmdStartTime={2} LastBusyTime={2} CfgTRES=cpu=224,gres/gpu=8 AllocTRES= {3}{4}"
)


@dataclass
class Record:
    """A node's record. Times are seconds since the epoch."""

    name: str
    state: str = "IDLE"
    flags: frozenset[str] = frozenset()
    reason: str = ""
    reason_at: int = 0
    boot_at: int = 0
    comment: str = ""
    by: str = ""
    """Who gave the drain, or set the node down; empty while it takes jobs."""
    lost: bool = False
    """Whether slurmctld set it down because it was silent, or booted by itself. Others decide about its return."""
    owes: frozenset[str] = frozenset()
    """Ends that the reasons of this drain have asked for, without a reboot that has been since."""
    asked: frozenset[str] = frozenset()
    """All ends that they have asked for."""

    @property
    def available(self) -> bool:
        return self.state != "DOWN" and not self.flags & KEEPS

    @property
    def line(self) -> str:
        """As scontrol prints it."""
        reason = f" Reason={self.reason} [root@{self.reason_at}]" if self.reason else ""
        comment = f" Comment={self.comment}" if self.comment else ""
        return LINE.format(self.name, "+".join([self.state, *sorted(self.flags)]), self.boot_at, reason, comment)


class Slurm:
    """slurmctld. Each change takes some seconds."""

    def __init__(self, names: Sequence[str], now: int = 1_800_000_000) -> None:
        self.now = now
        self.records = {name: Record(name, boot_at=now - 86400) for name in names}

    def change(self, name: str, plus: Collection[str] = (), minus: Collection[str] = (), **other: object) -> None:
        """Change flags and fields of a record."""
        self.now += 5
        own = self.records[name]
        flags = (own.flags | frozenset(plus)) - frozenset(minus)
        self.records[name] = replace(own, **{"flags": flags, **other})  # type: ignore[arg-type]

    def add(self, name: str, text: str) -> None:
        """Give a reason of slurmctld's own, which it appends to an older one."""
        old = self.records[name].reason
        reason = old if f" : {text}" in old else f"{old} : {text}" if old else text
        self.change(name, reason=reason, reason_at=self.now)

    def scontrol(self, argv: Sequence[str], by: str = HEALTH) -> None:
        """Run the commands that control.calls() makes."""
        _scontrol, verb, *words = argv
        given = dict(word.split("=", 1) for word in words if "=" in word)
        names = hostlist.names(given["nodename"] if verb == "update" else words[-1])
        assert all("\n" not in it for it in given.values())
        for name in names:
            if verb == "reboot":
                assert words[:2] == ["ASAP", "nextstate=DOWN"]
                self._reboot(name, given["reason"], by)
            else:
                self._update(name, given, by)

    def drain(self, name: str, reason: str, by: str) -> None:
        """state=drain."""
        self._update(name, {"state": "drain", "reason": reason}, by)

    def _update(self, name: str, given: Mapping[str, str], by: str) -> None:
        if "comment" in given:
            self.change(name, comment=given["comment"])
        if given.get("reason"):
            self.change(name, reason=given["reason"], reason_at=self.now)
        state = given.get("state", "")
        assert state != "drain" or given["reason"], "You must specify a reason when DOWNING or DRAINING a node"
        if state == "drain":
            self.change(name, {"DRAIN"}, by=by)
        elif state == "undrain":
            down = self.records[name].state == "DOWN"
            self.change(name, (), {"DRAIN"}, by=SLURM if down else "", owes=frozenset(), asked=frozenset())
        elif state == "resume":
            self._resume(name)
        if given.get("reason") and state in ("", "drain"):
            self._ask(name, given["reason"])

    def _ask(self, name: str, reason: str) -> None:
        """Remember what a reason of a drain for findings asks for."""
        own = self.records[name]
        asked = {it for it in (REBOOT, REPAIR) if f"{it}] " in reason}
        if own.by != HEALTH:
            self.records[name] = replace(own, owes=frozenset(), asked=frozenset())
        else:
            self.records[name] = replace(own, owes=own.owes | asked, asked=own.asked | asked)

    def _resume(self, name: str) -> None:
        own = self.records[name]
        assert own.state == "DOWN" or own.flags & {"DRAIN", "FAIL", "REBOOT_REQUESTED"}, "Invalid node state specified"
        state = "IDLE" if own.state == "DOWN" else own.state
        gone = {"DRAIN", "FAIL", "REBOOT_REQUESTED", "REBOOT_ISSUED"}
        self.change(name, (), gone, state=state, by="", lost=False, owes=frozenset(), asked=frozenset())

    def _reboot(self, name: str, reason: str, by: str) -> None:
        if not self.records[name].flags & {"REBOOT_REQUESTED", "REBOOT_ISSUED"}:
            self.change(name, {"REBOOT_REQUESTED", "DRAIN"}, by=by, reason=reason, reason_at=self.now)

    def issue(self, name: str) -> None:
        """Send the reboot to the node, if one is requested and no job uses it."""
        own = self.records[name]
        if "REBOOT_REQUESTED" in own.flags and own.state in ("IDLE", "DOWN") and "COMPLETING" not in own.flags:
            self.change(name, {"REBOOT_ISSUED"}, {"REBOOT_REQUESTED"}, state="DOWN")
            self.add(name, "reboot issued")

    def late(self, name: str) -> None:
        """The node does not come back within ResumeTimeout."""
        if "REBOOT_ISSUED" in self.records[name].flags:
            self.change(name, {"NOT_RESPONDING"}, {"REBOOT_ISSUED"})
            self.add(name, "reboot timed out")

    def lose(self, name: str) -> None:
        """The node does not answer within SlurmdTimeout. One that is down is only marked."""
        own = self.records[name]
        if own.state == "DOWN":
            self.change(name, () if "REBOOT_ISSUED" in own.flags else {"NOT_RESPONDING"})
            return
        by = own.by if "DRAIN" in own.flags else SLURM
        self.change(name, {"NOT_RESPONDING"}, {"COMPLETING"}, state="DOWN", by=by, lost=True)
        self.add(name, "Not responding")

    def register(self, name: str, booted: bool = False) -> None:
        """slurmd of the node comes back, after a boot or not. ReturnToService is 1."""
        own = self.records[name]
        self.now += BOOT_S
        boot_at, owes = (self.now - 60, own.owes - {REBOOT}) if booted else (own.boot_at, own.owes)
        if "REBOOT_ISSUED" in own.flags:
            if booted:
                gone = {"REBOOT_ISSUED", "DRAIN", "NOT_RESPONDING"}
                self.change(name, (), gone, boot_at=boot_at, lost=False, owes=owes)
                self.add(name, "reboot complete")
            return
        self.change(name, (), {"NOT_RESPONDING"}, boot_at=boot_at, owes=owes)
        if own.state == "DOWN" and own.reason == "Not responding" and not booted:
            self.change(name, state="IDLE", by="" if own.by == SLURM else own.by, lost=False)
        elif booted and own.state != "DOWN":
            self._surprise(name)

    def _surprise(self, name: str) -> None:
        """A node has booted that was neither drained nor in maintenance: jobs of a draining one are lost, too."""
        own = self.records[name]
        if "MAINTENANCE" in own.flags or ("DRAIN" in own.flags and own.state == "IDLE"):
            self.change(name, (), {"COMPLETING"}, state="IDLE")
            return
        reason, at = (own.reason, own.reason_at) if own.reason else ("Node unexpectedly rebooted", self.now)
        other, by = ("DRAIN" not in own.flags, SLURM) if "DRAIN" not in own.flags else (False, own.by)
        gone = {"COMPLETING", "REBOOT_REQUESTED"}
        self.change(name, (), gone, state="DOWN", by=by, lost=other, reason=reason, reason_at=at)


@dataclass
class Controller:
    """The controller's program. `others` are findings that do not come from the nodes."""

    slurm: Slurm
    units: Mapping[str, Collection[str]]
    health: Health = field(default_factory=Health)
    proofs: Collection[str] = ()
    memory: Memory = field(default_factory=Memory)
    others: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    """All acts so far."""
    read: dict[str, tuple[Record, float | None, Seen]] = field(default_factory=dict)
    """Records that were parsed, because reading costs more than all else."""

    def seen(self) -> list[Seen]:
        """All nodes as the controller reads them."""
        return [self._seen(name, own) for name, own in self.slurm.records.items()]

    def _seen(self, name: str, own: Record) -> Seen:
        then = self.memory.rebooted.get(name)
        known = self.read.get(name)
        if not known or known[0] is not own or known[1] != then:
            [found] = records.nodes(own.line, self.memory.rebooted)
            known = self.read[name] = (own, then, found)
        return known[2]

    def decide(self) -> Decision:
        """What it would do now."""
        past = self.slurm.now - self.health.reboot.again_days * DAY_S
        lately = {name: then for name, then in self.memory.rebooted.items() if then > past}
        self.memory = replace(self.memory, rebooted=lately)
        return decide(self.seen(), self.units, self.health, self.memory, self.slurm.now, self.others, self.proofs)

    def act(self, found: Decision) -> None:
        """Do it."""
        nodes = {it.name: it for it in self.seen()} if found.acts else {}
        for call in control.calls(found.acts, nodes):
            self.slurm.scontrol(call.argv)
        self.acts += found.acts
        self.memory = found.memory

    def look(self) -> Decision:
        """Decide and act."""
        found = self.decide()
        self.act(found)
        return found

    def report(self, name: str, *findings: Finding) -> None:
        """A look of the node at itself: it writes what it finds into its record, if that differs."""
        now = Report.parse(self.slurm.records[name].comment)
        if now.findings != (found := written(findings)):
            self.slurm.change(name, comment=str(replace(now, findings=found)))

    def drain_itself(self, name: str, *findings: Finding) -> None:
        """A node's prolog: it reports and drains its node, unless the report is answered."""
        self.report(name, *findings)
        own = self.slurm.records[name]
        if own.available and not Report.parse(own.comment).kept:
            self.slurm.drain(name, f"drawbridge: health: {'; '.join(map(str, written(findings)))}", HEALTH)

    def close(self, name: str) -> None:
        """A person closes a breaker."""
        opened = {key: it for key, it in self.memory.opened.items() if key != name}
        self.memory = replace(self.memory, opened=opened)

    def drained(self) -> frozenset[str]:
        """Nodes that health keeps from jobs."""
        return frozenset(name for name, it in self.slurm.records.items() if it.by == HEALTH and not it.available)

    def counted(self) -> frozenset[str]:
        """Those of them that breakers count: without a passport, a node does not take jobs anyway."""
        return frozenset(name for name in self.drained() if f" {PART}: " not in self.slurm.records[name].reason)

    def domains(self) -> list[breaker.Domain]:
        return breaker.domains(self.health.breaker, self.units)


def site(sizes: Sequence[int], health: Health | None = None, proofs: Collection[str] = ()) -> Controller:
    """Units u0, u1 ... of these sizes, with nodes n00, n01 ..."""
    names = [f"n{at:02}" for at in range(sum(sizes))]
    firsts = [sum(sizes[:at]) for at in range(len(sizes))]
    units = {f"u{at}": names[first : first + sizes[at]] for at, first in enumerate(firsts)}
    return Controller(Slurm(names), units, health or Health(), proofs)
