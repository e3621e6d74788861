# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Decisions of the controller about findings: drain, lift, reboot once, or keep a node in service and say so. Pure.

Only drains with a reason of finding.REASON are changed. Other drains stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..nodes.passport_io import PART
from . import breaker
from .finding import (
    ENDS,
    HEALS,
    REASON,
    REBOOT,
    REPAIR,
    Finding,
    Report,
    counting,
    heaviest,
    of_reason,
    reason,
    written,
)
from .model import Health, Reboot

UNAVAILABLE = frozenset({"DRAIN", "FAIL", "MAINTENANCE"})
UNSETTLED = frozenset({"NOT_RESPONDING", "REBOOT_ISSUED", "REBOOT_REQUESTED", "COMPLETING", "POWERING_UP"})
"""Flags of a node whose report may be old, or that still works for a job."""
DAY_S = 86400.0
_PASSPORT = f"{PART}: "
DRAIN, LIFT, RESUME, REASON_ONLY, REBOOT_NODE, KEEP, UNKEEP = (
    *("drain", "lift", "resume", "reason", "reboot", "keep", "unkeep"),
)
"""Kinds of acts. `keep` and `unkeep` change the answer in the node's report alone."""


@dataclass(frozen=True)
class Seen:
    """A node as Slurm has it."""

    name: str
    state: str
    """The base state, such as IDLE."""
    flags: frozenset[str] = frozenset()
    reason: str = ""
    """As it was given, without user and time."""
    comment: str = ""
    booted: bool = False
    """Whether it has booted since the reason was given."""
    lost: bool = False
    """Whether slurmctld has set it down because it was silent. Then others decide about its return."""

    @property
    def report(self) -> Report:
        """What the node says of itself."""
        return Report.parse(self.comment)

    @property
    def unavailable(self) -> bool:
        """Whether it gets no new jobs. A reason alone proves nothing: it stays after the drain."""
        return self.state == "DOWN" or bool(self.flags & UNAVAILABLE)

    @property
    def ours(self) -> bool:
        """Whether findings keep it from jobs."""
        return self.unavailable and self.reason.startswith(REASON)


@dataclass(frozen=True)
class Opened:
    """An open breaker: since when (seconds since the epoch), and why."""

    since: float
    why: str


@dataclass(frozen=True)
class Memory:
    """What the controller remembers between two looks."""

    opened: Mapping[str, Opened] = field(default_factory=dict)
    """Open breakers by name."""
    rebooted: Mapping[str, float] = field(default_factory=dict)
    """When a node was rebooted last."""


@dataclass(frozen=True)
class Act:
    """One change of a node's record. `text` is the new reason or the answer."""

    kind: str
    node: str
    text: str = ""


@dataclass(frozen=True)
class Decision:
    """What to do now, and what to remember if it is done."""

    acts: tuple[Act, ...]
    memory: Memory
    opened: tuple[str, ...] = ()
    """Breakers that this look has opened."""


def decide(
    nodes: Sequence[Seen],
    units: Mapping[str, Collection[str]],
    health: Health,
    memory: Memory,
    now: float,
    others: Mapping[str, Sequence[Finding]] | None = None,
    proofs: Collection[str] = (),
) -> Decision:
    """Decide about all nodes of the site.

    `others` are findings that do not come from the nodes themselves. `proofs` are nodes that return from a fault of
    their hardware only with a new proof.
    """
    some = breaker.domains(health.breaker, units)
    found = {it.name: _findings(it, health, others or {}) for it in nodes}
    wanted = [it.name for it in nodes if _counted(found[it.name]) and not it.unavailable]
    drained = [it.name for it in nodes if it.ours and _keeps(it, found[it.name])]
    closed = [it for it in some if not memory.opened.keys() & {it.name, breaker.SITE}]
    shut = breaker.shut_for(some, memory.opened)
    fresh = breaker.opening(closed, drained, [name for name in wanted if name not in shut])
    opened = {**memory.opened, **{name: Opened(now, why) for name, why in fresh.items()}}
    shut = breaker.shut_for(some, opened)
    plan = _Plan(shut, health.reboot, memory, now, frozenset(proofs))
    acts = [act for it in nodes for act in plan.of_node(it, found[it.name])]
    rebooted = {**memory.rebooted, **{act.node: now for act in acts if act.kind == REBOOT_NODE}}
    return Decision(tuple(acts), replace(memory, opened=opened, rebooted=rebooted), tuple(fresh))


def _findings(node: Seen, health: Health, others: Mapping[str, Sequence[Finding]]) -> tuple[Finding, ...]:
    """Those that count, of the node and of others."""
    more = others.get(node.name)
    every = (*node.report.findings, *(written(more) if more else ()))
    return counting(every, health.report_only)


def _keeps(node: Seen, found: Sequence[Finding]) -> bool:
    """Whether breakers count a drained node: for its reason as it is, or as it will be."""
    was = of_reason(node.reason)
    lasts = found or [it for it in was if not it.text.startswith(_PASSPORT)]
    return _counted(was) or _counted(lasts)


def _counted(found: Sequence[Finding]) -> bool:
    """Whether breakers limit drains for these. A node without the passport that its class asks for never takes jobs."""
    return bool(found) and not any(it.text.startswith(_PASSPORT) for it in found)


@dataclass(frozen=True)
class _Plan:
    """What counts for each node."""

    shut: Mapping[str, str]
    rule: Reboot
    memory: Memory
    now: float
    proofs: frozenset[str]

    def of_node(self, node: Seen, found: Sequence[Finding]) -> list[Act]:
        """Acts for one node with these findings. A node that is not settled is only answered, or drained."""
        answer = f"breaker {self.shut[node.name]} is open" if node.name in self.shut else ""
        acts = [] if node.report.kept == answer else [Act(KEEP if answer else UNKEEP, node.name, answer)]
        said = self._said(node, found) if found else []
        if said and not node.unavailable and not (answer and _counted(said)):
            return [*acts, Act(DRAIN, node.name, reason(said))]
        if not node.ours or node.flags & UNSETTLED:
            return acts
        return [*acts, *self._of_drained(node, [*self._owed(node, said), *said])]

    def _tried(self, node: Seen) -> bool:
        """Whether its one reboot was lately."""
        then = self.memory.rebooted.get(node.name)
        return then is not None and self.now - then < self.rule.again_days * DAY_S

    def _said(self, node: Seen, found: Sequence[Finding]) -> list[Finding]:
        """The findings. After a reboot, and when the next one is not due yet, a finding needs a repair."""
        was = of_reason(node.reason) if node.ours else ()
        repairs = {it.text for it in was if it.ends == REPAIR}
        lately = self._tried(node) or heaviest(was) == REBOOT
        # a drained node that has not booted yet may still be on its way
        tried = lately and (node.booted or not node.ours)
        return [replace(it, ends=REPAIR) if it.ends == REBOOT and (tried or it.text in repairs) else it for it in found]

    def _owed(self, node: Seen, said: Sequence[Finding]) -> list[Finding]:
        """What the drain waits for although it is found no more: a repair, a reboot, or a proof after the reboot."""
        was = of_reason(node.reason)
        ends = heaviest(was)
        owed = [it for it in was if it.ends == ends]
        if ends == REBOOT and node.booted:
            why = f"{PART}: it had {owed[0].text}, and needs a new proof after its reboot"
            ends, owed = REPAIR, [Finding(why, ends=REPAIR)] if node.name in self.proofs else []
        return owed if ENDS.index(ends) > ENDS.index(heaviest(said)) else []

    def _of_drained(self, node: Seen, needs: Sequence[Finding]) -> list[Act]:
        """A drained node: its drain ends, its reason follows what it needs, or it is rebooted once while it is idle."""
        if not needs:
            return [Act(RESUME if node.state == "DOWN" and not node.lost else LIFT, node.name)]
        if reason(needs) != node.reason:
            return [Act(REASON_ONLY, node.name, reason(needs))]
        wanted = heaviest(needs) == REBOOT and self.rule.allowed and not self._tried(node)
        wanted = wanted and node.name not in self.shut
        idle = node.state in ("IDLE", "DOWN") and "MAINTENANCE" not in node.flags
        return [Act(REBOOT_NODE, node.name, reason(needs))] if wanted and idle else []


def waits_for(node: Seen, rule: Reboot) -> str:
    """What ends the drain of a node, as words for a person; empty if findings do not keep it drained."""
    if not node.ours:
        return ""
    return {
        HEALS: "the drain ends when its findings are gone",
        REBOOT: "it is rebooted once when its jobs have ended"
        if rule.allowed
        else "reboot it, and its drain ends when its findings are gone",
        REPAIR: "repair it, then prove it",
    }[heaviest(of_reason(node.reason))]
