# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From a switch's configuration to the wanted one: sentences for people, and the lines to type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Callable

from ..core.converge import Step
from .section import PORT, Change, Lines, changes_of, port_list
from .strategy import Strategy
from .traffic import INTERRUPTING, NO_NODES, QUIET, Traffic

PROMPT, CANDIDATE, CONFIRM, PROVE = "prompt", "candidate", "confirm", "prove"
"""Where a step's lines are typed. The candidate makes all changes one; before CONFIRM the change in force is proven.
PROVE types nothing unless the proof fails."""


@dataclass(frozen=True)
class Config:
    """The lines that Drawbridge owns on a switch, and the reasons why they would not last."""

    sections: tuple[tuple[str, Lines], ...]
    """Owned lines by section, such as `interface Ethernet1`; defaults that the switch hides are written out."""
    saved: bool = True
    """The startup configuration has the same owned lines: a restart changes nothing."""
    stale: Lines = ()
    """Sessions that an earlier run opened and left."""
    waiting: str = ""
    """Session of an earlier run that is in force, but rolls back unless it is confirmed."""
    foreign: Lines = field(default=(), compare=False)
    """Open sessions of other users, each with its user. Their commit would undo a change of this run."""
    own: Any = field(default=None, compare=False)
    """What the system's strategy needs to know beside the owned lines. No other code reads it."""
    unproven: Lines = field(default=(), compare=False)
    """Where the hardware does not do what the lines say, each as a sentence that begins with a port's name."""

    def lines(self) -> list[str]:
        """The owned lines as the switch prints them, then remarks on changes that would not last."""
        remarks = [f"! session {name} was left open" for name in self.stale]
        remarks += [f"! session {self.waiting} waits for its confirmation"] if self.waiting else []
        remarks += [] if self.saved else ["! startup-config differs"]
        return [*(line for _unused, lines in self.sections for line in lines), *remarks]

    def with_sections(self, changed: dict[str, Lines], saved: bool = False) -> Config:
        """The same with other lines in some sections. Unless they are saved, a restart brings the old ones back."""
        merged = {**dict(self.sections), **changed}
        return replace(self, sections=tuple(merged.items()), saved=saved)


@dataclass(frozen=True)
class Typed:
    """The lines that a step types, and where."""

    place: str
    lines: Lines
    session: str = ""
    """The session that the lines end."""
    group: int = 0
    """Steps of the candidate with the same number are one change; the groups follow each other."""


@dataclass(frozen=True)
class Syntax:
    """The lines to type on one network operating system."""

    commands: Callable[[Lines, Lines], list[str]]
    """(have, want) of one section -> the lines that lead from one to the other."""
    on_ports: Callable[[Sequence[str], Lines], Lines]
    """(ports, lines that `commands` gave for each of them, without the header) -> the lines to type."""
    stops: Callable[[str, Lines, Lines], str]
    """(section, have, want) -> why the change stops traffic, with {ports} for the ports; "" if it doesn't."""
    save: str
    """Makes a restart keep what runs; empty where a change that is kept needs no more."""
    strategy: Callable[[Any], Strategy]
    """How the release makes a change, by Config.own of a switch with it."""


def plan(syntax: Syntax, have: Config, want: Config, traffic: Traffic = NO_NODES) -> list[Step[Config]]:
    """Steps in the order of `want`'s sections: maps and profile first, then the ports that refer to them.

    Sessions that earlier runs left open go first, because they block a new one. Saving is last: a restart before it
    brings the old configuration back, never half of a change. While an earlier run's session with other lines is in
    force, all steps wait: only after its roll-back can the lines to type be known.

    Steps that interrupt traffic of nodes in use wait too, unless `traffic` allows them: uplinks are then the last.
    """
    strategy = syntax.strategy(have.own)
    changes = {name: lines for name, lines in want.sections if dict(have.sections).get(name, ()) != lines}
    steps = [] if traffic.phase == INTERRUPTING else [_aborted(strategy, name) for name in have.stale]
    kept = strategy.confirmation(have.waiting) if have.waiting and not changes else ""
    if kept:
        reason = f"confirm the session {have.waiting}, which an earlier run left waiting for its confirmation"
        typed = Typed(CONFIRM, tuple(kept.splitlines()), have.waiting)
        steps.append(Step(reason, lambda config: replace(config, waiting="", saved=not syntax.save), typed))
    steps += _section_steps(syntax, dict(have.sections), changes, traffic)
    if strategy.earlier(have.own) and not have.saved and not changes:
        reason = "prove the change in force, which an earlier run left unproven and unsaved"
        steps.append(Step(reason, lambda config: config, Typed(PROVE, ())))
    changed = any(not step.pending for step in steps if step.payload.place != PROMPT)
    if syntax.save and (changed or have.waiting or not have.saved):
        reason = "save the running configuration, so that a restart keeps it"
        steps.append(Step(reason, lambda config: replace(config, saved=True), Typed(PROMPT, (syntax.save,))))
    pending = refused = ""
    if have.waiting and not kept:
        other = ", with other lines" if changes else ""
        pending = (
            f"the session {have.waiting} of an earlier run is in force, unconfirmed{other};"
            " run this again in some minutes, when it is rolled back"
        )
    if have.foreign:
        ends = "; ".join(strategy.roll_back(have.foreign[0].split()[0]).splitlines())
        refused = (
            f"another user's configuration session {have.foreign[0]} is open and would undo this change when it is"
            f" committed; end it there, or on the switch with: {ends}"
        )
    return [replace(step, pending=pending or step.pending, refused=refused) for step in steps]


def interrupting(syntax: Syntax, have: Config, want: Config, traffic: Traffic) -> list[str]:
    """The steps that QUIET leaves to INTERRUPTING, as sentences."""
    steps = plan(syntax, have, want, replace(traffic, phase=INTERRUPTING))
    return [step.reason for step in steps if step.payload.place == CANDIDATE and not step.pending]


def _aborted(strategy: Strategy, session: str) -> Step[Config]:
    def becomes(config: Config) -> Config:
        return replace(config, stale=tuple(name for name in config.stale if name != session))

    typed = Typed(PROMPT, tuple(strategy.abort(session).splitlines()), session)
    return Step(f"abort the session {session}, which an earlier run left open", becomes, typed)


def _section_steps(
    syntax: Syntax, have: Mapping[str, Lines], want: Mapping[str, Lines], traffic: Traffic
) -> list[Step[Config]]:
    """One step for a section, or for all ports that need the same lines: a leaf's 32 ports are one sentence."""
    alike: dict[tuple[str, Change], list[str]] = {}
    for name, change in changes_of(syntax.commands, syntax.stops, have, want, traffic).items():
        alike.setdefault(("" if name.startswith(PORT) else name, change), []).append(name)
    steps: list[Step[Config]] = []
    for (whole, change), names in alike.items():
        if traffic.allowed and traffic.phase == (QUIET if change.interrupts else INTERRUPTING):
            continue
        ports = [name.removeprefix(PORT) for name in names]
        typed = change.lines if whole else syntax.on_ports(ports, change.lines)
        shown = "; ".join(line for line in change.lines if line != whole)
        waits = change.interrupts and not traffic.allowed
        step = Step(
            f"{whole or PORT + port_list(names)}: {shown}",
            lambda config, new={name: want[name] for name in names}: config.with_sections(new, not syntax.save),
            Typed(CANDIDATE, typed, group=change.group),
            pending=change.waits(names, have, traffic) if waits else "",
        )
        steps.append(step)
    return sorted(steps, key=lambda step: step.payload.group)


def way_back(syntax: Syntax, have: Config, before: Config) -> Lines:
    """The lines that undo a change where no timer does: they lead from the lines in force to the earlier ones."""
    changes = {name: lines for name, lines in before.sections if dict(have.sections).get(name, ()) != lines}
    steps = _section_steps(syntax, dict(have.sections), changes, NO_NODES)
    return tuple(line for step in steps for line in step.payload.lines)


def difference(have: Config, want: Config) -> str:
    """The first owned line that differs, or nothing."""
    found = dict(have.sections)
    for name, lines in want.sections:
        got = found.get(name, ())
        if missing := [line for line in lines if line not in got]:
            return f"{name} lacks {missing[0].strip()!r}"
        if extra := [line for line in got if line not in lines]:
            return f"{name} still has {extra[0].strip()!r}"
    return ""
