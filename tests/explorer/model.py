# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One schedule, from its first job until everything had to be in order again."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

from roles.slurm_gate.files.gate.config import Config
from roles.slurm_gate.files.gate.gate_names import GATE_NAMESPACE, NODES_NAMESPACE
from roles.slurm_gate.files.gate.opener import ADMISSION
from roles.slurm_gate.files.gate.states import gate_taint
from tests.unit.roles.slurm_gate.cluster import CONFIG, own_token

from .daemons import Slurm
from .events import Events
from .fakes import FakeWorld, replaced
from .hosts import Box, Faults, Process, System
from .invariants import T_S, breaches
from .kube import Kube
from .plan import NODES, Plan
from .records import History
from .server import Server
from .sim import Sim
from .tools import Answers

TICK_S = 30.0
SETTINGS = {
    **CONFIG,
    "namespaces": {"vision": "vision", "nlp": "nlp"},
    "partition_nodes": {"ai-train": "gpu[01-03]"},
    "patience_s": 12,
    "empty_s": 25,
    "pod_grace_s": 5,
    "stuck_s": 40,
    "tries": 2,
}
"""Shorter than a site's, in the same order of size."""
GARBAGE = 100_000
"""So many new objects before Python looks for cycles: a schedule leaves few, and looking is a sixth of all the work."""
SLACK_S = 45.0
"""After the bound: what began late in it is seen to its end."""


@dataclass
class Outcome:
    """What one schedule showed."""

    breaches: list[tuple[str, str]]
    met: Counter[tuple[str, str, str]]
    steps: Counter[tuple[str, str]]
    lines: list[str]


def explore(plan: Plan, keep: bool = False) -> Outcome:
    """Run one schedule; `keep` its trace."""
    with replaced():
        model = Model(plan, keep)
        try:
            model.sim.run(plan.over_at + T_S + SETTINGS["pod_grace_s"] + SLACK_S)
        finally:
            model.sim.close()
    return model.outcome()


class Model(Events):
    """All parts of one schedule, and what happens to them."""

    def __init__(self, plan: Plan, keep: bool) -> None:
        self.plan, self.sim, self.history = plan, Sim(), History()
        rng = random.Random(plan.seed)
        self.server = Server(self.sim, self.history, list(NODES))
        self.system = System(
            self.sim, self.server, Config(**{**SETTINGS, "tries": plan.tries}), Faults(plan.strikes, rng)
        )
        self.system.keep = keep
        self.boxes = {name: Box(name, plan.skews.get(name, 0.0)) for name in ("ctl", *NODES)}
        workers = {name: self.boxes[name] for name in NODES}
        self.kube = Kube(self.system, workers, rng)
        self.kube.late_s, self.kube.ghost_s, self.kube.backoff_s = plan.late_s, plan.ghost_s, plan.backoff_s
        self.kube.exporters = plan.exporters
        self.slurm = Slurm(self.system, self.kube, workers, self.boxes["ctl"], rng)
        self.slurm.prolog_waits, self.slurm.cancels_opener = plan.prolog_waits, plan.cancels_opener
        self.system.answer, self.system.world = Answers(self.slurm), FakeWorld.of
        self._quiet: dict[str, Any] = {}
        for box in self.boxes.values():
            self._furnish(box, rng)
        self._schedule()

    def _furnish(self, box: Box, rng: random.Random) -> None:
        """Tokens of its own, of some age, what it knows, what always runs there; and the timer."""
        if box.name == "ctl":
            names = {"opener": GATE_NAMESPACE, "reconciler": GATE_NAMESPACE}
            box.notes["gated"] = {"partitions": self.system.config.partitions, "jobs": []}
            self.note_guards()
        else:
            names = {"node": NODES_NAMESPACE}
            self.kube.infrastructure(box)
        for name, namespace in names.items():
            subject = name if box.name == "ctl" else box.name
            made = 1_000_000.0 + box.skew - rng.uniform(0, 1200)
            box.files[f"/tokens/{name}.token"] = (own_token(namespace, subject), made, 0)
        box.notes["boot"] = {"id": "1"}
        self.sim.after(rng.uniform(0, TICK_S), self.tick, box, box.boot)

    def note_guards(self) -> None:
        self.boxes["ctl"].files["/etc/guards.json"] = (json.dumps(self.server.marks()), 0.0, 0)

    def _schedule(self) -> None:
        for number, (at, spec) in enumerate(self.plan.jobs, 1):
            self.sim.after(at, self.slurm.submit, spec, number)
        for event in self.plan.events:
            self.sim.after(event.at, self._begin, event)
        self.sim.after(5.0, self.slurm.ping)
        self.sim.after(self.plan.over_at, self._wind_up)

    # the timer of every host

    def tick(self, box: Box, boot: int) -> None:
        """drawbridge-gate.timer; a run that would see what the last one saw is left out."""
        if box.boot != boot:
            return
        if not box.on or self._quiet.get(box.name) == self._view(box):
            self.sim.after(TICK_S, self.tick, box, boot)
        else:
            box.skipped = False
            Process(self.system, box, "reconcile", {}, partial(self._ticked, box, boot, self._view(box)))

    def _ticked(self, box: Box, boot: int, view: Any, code: int | None) -> None:
        idle = code == 0 and view == self._view(box) and not (box.skipped or self._busy())
        self._quiet[box.name] = view if idle else None
        self.sim.after(TICK_S, self.tick, box, boot)

    def _view(self, box: Box) -> Any:
        node = self.slurm.nodes.get(box.name)
        own = (node.reason_now, node.job) if node else ()
        inside = (tuple(box.gpus), tuple(box.containers))
        return (self.server.version, box.boot, box.online, len(self.history.drains), inside, own)

    def _busy(self) -> bool:
        return any(it.nodes for it in self.slurm.jobs.values())

    # the end

    def _wind_up(self) -> None:
        """The faults are over by the plan's own times; now the jobs end, too."""
        self.slurm.shut = True
        if not self.slurm.up:
            self.sim.after(1.0, self._wind_up)
            return
        self.system.trace("****", "all jobs are cancelled")
        for job in list(self.slurm.jobs.values()):
            self.slurm.cancel(job)

    def outcome(self) -> Outcome:
        """What the schedule showed, judged."""
        history = self.history
        history.end = self.sim.now
        self.kube.still_running()
        self.server.finish()
        history.left = [*self._objects_left(), *self._notes_left()]
        system, faults = self.system, self.system.faults
        found = breaches(history, SETTINGS["pod_grace_s"], SETTINGS["stuck_s"])
        return Outcome(found, faults.met, faults.steps, system.lines)

    def _objects_left(self) -> list[str]:
        found = []
        for path, it in self.server.objects.items():
            if "/nodes/" not in path and not path.startswith(ADMISSION):
                found.append(path)
            elif "/nodes/" in path and gate_taint(it)[1] != "closed":
                found.append(f"node {it['metadata']['name']}, {gate_taint(it)[1]}")
        return found

    def _notes_left(self) -> list[str]:
        notes = [(box, name) for box in self.boxes.values() for name in box.notes if name.startswith("run-")]
        files = [(box, name) for box in self.boxes.values() for name in box.files if name.startswith("/jobs/")]
        return [f"{name} on {box.name}" for box, name in notes + files]
