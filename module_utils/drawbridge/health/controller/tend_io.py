# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One look of the controller at all findings: it reads Slurm, decides, changes nodes, and keeps what it did.

The memory is saved before anything changes: a program that dies half-way must neither reboot a node twice nor forget a
breaker. The next look proves each change, and the decision repeats one that has no effect.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.command import Run
from ...core.converge import DeviceError
from ...proof.reserved import RESERVATION
from ...telemetry import exposition, exposition_io
from ...telemetry.families import HEALTH
from .. import breaker, decide
from ..decide import REBOOT_NODE, Decision, Seen
from ..finding import REASON, Finding
from . import control, control_io, history, kube, memory, metrics, records
from .history import NOTHING, Entry, Mark
from .memory import Notes
from .settings import Settings
from .store_io import Store

if TYPE_CHECKING:
    from .kube_io import Looked

KUBERNETES = "kubernetes.json"
"""The last look at Node objects, in the store's folder."""
Others = Mapping[str, Sequence[Finding]]
"""Findings that do not come from the nodes themselves, by node."""


@dataclass(frozen=True)
class Place:
    """Where a look happens."""

    settings: Settings
    store: Store
    run: Run
    """Runs scontrol."""
    say: Callable[[str], None]
    """A line for the log."""
    prove: str
    """How a person proves a node: a command with {name}."""
    metrics: Path = exposition.METRICS
    now: Callable[[], float] = time.time

    @property
    def breakers(self) -> list[str]:
        """Names of all breakers."""
        return [it.name for it in breaker.domains(self.settings.health.breaker, self.settings.units)]

    def publish(self, samples: Iterable[exposition.Sample]) -> None:
        """Write the metrics. A failure is said and fails nothing else."""
        try:
            exposition_io.write(self.metrics, HEALTH, exposition.text(samples))
        except (OSError, ValueError) as err:
            self.say(f"no metrics: {err}")


@dataclass(frozen=True)
class Look:
    """All that one look knows."""

    now: float
    nodes: tuple[Seen, ...]
    """Those of the intent."""
    proving: frozenset[str]
    """Nodes that a proof has reserved. It ends their drains itself, and needs them until it is over."""
    notes: Notes
    others: Others

    @property
    def found(self) -> dict[str, tuple[Finding, ...]]:
        """Findings by node."""
        every = {
            it.name: (*(it.report.findings if it.comment else ()), *self.others.get(it.name, ())) for it in self.nodes
        }
        return {name: some for name, some in every.items() if some}

    def decided(self, settings: Settings, notes: Notes) -> Decision:
        """The decision with these notes."""
        known = notes.memory(settings.health.reboot.again_days, self.now)
        found = decide.decide(
            self.nodes, settings.units, settings.health, known, self.now, self.others, settings.proofs
        )
        return replace(found, acts=tuple(act for act in found.acts if act.node not in self.proving))


def looked(place: Place) -> Look:
    """Read Slurm, the memory, and findings of others as of the last look at them.

    Raises DeviceError or ValueError if slurmctld gives no answer.
    """
    text, now = control_io.look(place.run), place.now()
    try:
        notes, lost = place.store.load(), ""
    except (OSError, ValueError) as err:
        notes, lost = Notes(reboots=history.reboots(place.store.entries())), f"no memory of an earlier look: {err}"
    lately = notes.memory(place.settings.health.reboot.again_days, now).rebooted
    names = place.settings.names
    nodes = tuple(it for it in records.nodes(text, lately) if it.name in names)
    if lost:
        notes = replace(notes, opened=memory.recovered(nodes, now))
        place.say(f"{lost}; open breakers in the nodes' records: {', '.join(notes.opened) or 'none'}")
    return Look(now, nodes, records.reserved(text, RESERVATION), notes, _others(place, nodes))


def _others(place: Place, nodes: Sequence[Seen]) -> Others:
    """Findings of others by the last look at Kubernetes."""
    if not place.settings.access:
        return {}
    try:
        found = kube.Last.parse((place.store.folder / KUBERNETES).read_text(encoding="utf-8")).found
    except (OSError, ValueError):
        found = None
    return kube.of_drains(nodes, place.settings.health) if found is None else found


def tend(place: Place) -> None:
    """One look with all that follows from it."""
    try:
        look = looked(place)
        ask = _asked(place, look) if place.settings.access else None
        if ask:
            # reading all Node objects takes a while, and the records must be fresh
            look = replace(looked(place), others=ask.found)
    except (DeviceError, ValueError) as err:
        place.say(f"slurmctld is silent, so nothing changes: {err}")
        notes = _notes(place.store)
        place.publish(metrics.silent(place.breakers, notes.opened, notes.looked))
        return
    decision = look.decided(place.settings, look.notes)
    nodes = {it.name: it for it in look.nodes}
    marks = {name: it for name, it in _marks(look) if not it.plain}
    ordered = [act.node for act in decision.acts if act.kind == REBOOT_NODE]
    reboots = memory.rebooted(look.notes.reboots, ordered, look.now)
    notes = Notes(decision.memory.opened, reboots, marks, (), look.notes.said, look.now)
    complaints = memory.without_effect(look.notes.done, nodes)
    problem = _kept(place, [*_changes(look, marks), *_opened(decision, look.now)], notes)
    held = [it for it in decision.acts if it.kind == REBOOT_NODE and problem]
    outcome = control_io.act(
        control.calls([it for it in decision.acts if not (problem and it.kind == REBOOT_NODE)], nodes), place.run
    )
    outcome = replace(outcome, refused=(*outcome.refused, *held))
    complaints += [*problem, *outcome.complaints, *(_told(place, look, ask) if ask else ())]
    _finish(place, look, notes, outcome, complaints)


def _asked(place: Place, look: Look) -> Looked:
    """Read all Node objects, unless that was expensive and lately."""
    from . import kube_io  # most sites have no use for it, and it imports much

    file = place.store.folder / KUBERNETES
    return kube_io.look(
        kube_io.Access(**place.settings.access or {}), place.settings.health, look.nodes, file, look.now
    )


def _told(place: Place, look: Look, asked: Looked) -> Sequence[str]:
    """Write the conditions of nodes. Returns complaints."""
    from . import kube_io

    access = kube_io.Access(**place.settings.access or {})
    return [*asked.said, *kube_io.report(access, asked, look.nodes, look.now)]


def _notes(store: Store) -> Notes:
    """The notes of the last look; empty ones if there are none."""
    try:
        return store.load()
    except (OSError, ValueError):
        return Notes()


def _marks(look: Look) -> list[tuple[str, Mark]]:
    found = look.found
    return [(it.name, history.mark(it, found.get(it.name, ()))) for it in look.nodes]


def _changes(look: Look, marks: Mapping[str, Mark]) -> list[Entry]:
    """What has changed since the last look."""
    before = look.notes.marks
    return [
        entry
        for it in look.nodes
        if it.name in before or it.name in marks
        for entry in history.changes(it, before.get(it.name, NOTHING), marks.get(it.name, NOTHING), look.now)
    ]


def _opened(decision: Decision, now: float) -> list[Entry]:
    return [Entry(now, "", history.OPENED, f"{it}: {decision.memory.opened[it].why}") for it in decision.opened]


def _kept(place: Place, entries: Sequence[Entry], notes: Notes) -> list[str]:
    """Keep history and memory. Returns complaints; then there is no memory, and no node may be rebooted.

    Other acts may follow: they are in Slurm's records, from which the next look recovers them.
    """
    try:
        place.store.append(entries)
        place.store.save(notes)
    except OSError as err:
        place.store.forget()
        return [f"memory and history can't be kept: {err}"]
    return []


def _finish(place: Place, look: Look, notes: Notes, outcome: control_io.Outcome, complaints: Sequence[str]) -> None:
    """Keep what became of the acts, say new complaints, and write the metrics."""
    refused = {act.node for act in outcome.refused if act.kind == REBOOT_NODE}
    reboots = memory.not_rebooted(notes.reboots, refused, look.now)
    accepted = [
        Entry(look.now, it.node, history.REBOOTED, it.text[len(REASON) :])
        for it in outcome.accepted
        if it.kind == REBOOT_NODE
    ]
    for complaint in complaints:
        if complaint not in notes.said:
            place.say(complaint)
    if outcome.left:
        place.say(f"{outcome.left} changes wait for the next look")
    notes = replace(notes, reboots=reboots, done=outcome.accepted, said=tuple(complaints))
    # without this, the next look knows the decision alone
    with contextlib.suppress(OSError):
        place.store.append(accepted)
        place.store.save(notes)
    lately = {
        name: [it for it in times if look.now - it < history.DAYS * decide.DAY_S] for name, times in reboots.items()
    }
    shown = {name: times for name, times in lately.items() if times}
    count = len(complaints)
    place.publish(metrics.samples(look.nodes, look.found, place.breakers, notes.opened, shown, count, look.now))
