# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm and its nodes in this process, for the proof's program: rates with noise, planted faults, kills at any call."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import STATE, Check
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Result
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.cluster import NodeInSlurm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.progress import Progress
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.prove import Proof
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import (
    Answer,
    Request,
    answers,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.settings import Settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.site import INCAST, Test

LINE = 392.0
"""Gb/s of a sound rail of 400 Gb/s with an MTU of 9000."""
IDLE = NodeInSlurm("IDLE")
START = datetime(2026, 11, 29, tzinfo=timezone.utc)


CHECK = Check("clocks", STATE, "", "", lambda node: True, lambda node, outputs, texts: [])


class Killed(BaseException):
    """The end of the process, which nothing catches."""


def settings(nodes: int = 8, per_unit: int = 4, rails: int = 2, passport: bool = False, **own: Any) -> Settings:
    """Nodes n00, n01 ... in units whose rails each have a leaf, without tools and directories."""
    build = ProofNode("", "big", mtu_bytes=9000, tclass=106, priority=3, seconds=1).as_dict()
    build["rails"] = [{"netdev": f"r{at}", "rdma": f"m{at}", "gbps": 400, "numa": 0} for at in range(rails)]
    ranges = [
        {
            "names": f"n[{first:05}-{min(nodes, first + per_unit) - 1:05}]",
            "addresses": "",
            "node_class": "big",
            "unit": f"u{first // per_unit}",
            "leaves": [f"u{first // per_unit}r{rail}" for rail in range(rails)],
        }
        for first in range(0, nodes, per_unit)
    ]
    uplinks = {leaf: 400 * per_unit for part in ranges for leaf in part["leaves"]}
    keys = {"uplinks": uplinks, "passports": ["big"] if passport else [], "most_days": 0, "group": 32, "incast": 0}
    raw = {"cluster": "lab", "partition": "p", "classes": {"big": build}, "ranges": ranges, "percent_per_hour": 0}
    return Settings({**raw, **keys, **own})


@dataclass
class Slurm:
    """Slurm with its nodes. `kill_at` is the number of the call at which the program dies."""

    names: Sequence[str]
    nodes: dict[str, NodeInSlurm] = field(default_factory=dict)
    cables: dict[tuple[str, int], float] = field(default_factory=dict)
    """Share of the line rate of slow rails."""
    paths: dict[tuple[str, str], float] = field(default_factory=dict)
    """Share of the line rate between two units, by sender and receiver."""
    silent: set[str] = field(default_factory=set)
    seed: int = 0
    kill_at: int = 0
    calls: list[str] = field(default_factory=list)
    asked: list[Request] = field(default_factory=list)
    passports: dict[str, str] = field(default_factory=dict)
    reserved: list[str] = field(default_factory=list)
    unit_of: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes = {**dict.fromkeys(self.names, IDLE), **self.nodes}
        self.luck = random.Random(self.seed)

    def _call(self, what: str) -> None:
        self.calls.append(what)
        self.alive()

    def alive(self) -> None:
        """A dead process does nothing more; the test revives it."""
        if 0 < self.kill_at <= len(self.calls):
            raise Killed

    def clean(self) -> None:
        self._call("clean")
        self.reserved = []

    def states(self, names: Sequence[str]) -> Mapping[str, NodeInSlurm]:
        self._call("states")
        return {name: self.nodes[name] for name in names if name in self.nodes}

    def reserve(self, names: Sequence[str]) -> None:
        self._call("reserve")
        self.reserved = list(names)

    def resume(self, names: Sequence[str]) -> None:
        assert set(names) <= set(self.reserved), "a drain ended before its node was reserved"
        self._call("resume")
        self.nodes.update(dict.fromkeys(names, IDLE))

    def drain(self, name: str, reason: str) -> None:
        self._call("drain")
        self.nodes[name] = NodeInSlurm("IDLE", frozenset({"DRAIN"}), reason)

    def release(self) -> None:
        self._call("release")
        self.reserved = []

    def collective(self, tests: Sequence[Test], node: ProofNode, limit_s: float) -> Mapping[int, Sequence[Found]]:
        raise NotImplementedError

    def ask(self, request: Request, names: Sequence[str], limit_s: float) -> Mapping[str, Answer]:
        """Each worker's lines, as srun prints those of all nodes."""
        self._call("ask")
        assert set(names) <= set(self.reserved)
        request = Request.from_json(request.to_json())
        self.asked.append(request)
        found = self._traffic(request)
        printed = [
            line
            for name in names
            if name not in self.silent
            for line in Answer(
                name,
                {**found.get(name, {}), **{it: [] for it in request.checks}},
                {"kernel": "6.12"} if request.depends else {},
            ).lines()
        ]
        self.passports.update({name: it[0] for name, it in request.passports.items() if name not in self.silent})
        self.luck.shuffle(printed)
        return answers("\n".join(["srun: some message", *printed]))

    @staticmethod
    def _answer(name: str, request: Request, found: Mapping[str, Mapping[str, list[Found]]]) -> Answer:
        checks: dict[str, list[Found]] = {it: [] for it in request.checks}
        return Answer(name, {**found.get(name, {}), **checks}, {"kernel": "6.12"} if request.depends else {})

    def _traffic(self, request: Request) -> dict[str, dict[str, list[Found]]]:
        found: dict[str, dict[str, list[Found]]] = {}
        for flow in traffic.flows(request.tests):
            test = request.tests[flow.test]
            senders = len(test.nodes) - 1 if test.kind == INCAST else 1
            for phase in traffic.phases(test, request.phases):
                some = found.setdefault(flow.sender, {}).setdefault(str(flow.test), [])
                if flow.receiver in self.silent:
                    some.append(Missing(phase, flow.where, f"{flow.receiver} did not come to the test"))
                elif phase == traffic.BANDWIDTH:
                    rate = LINE * self._share(flow) / senders * self.luck.gauss(1, 0.003)
                    some.append(Measure(phase, rate, "Gb/s", flow.where))
                    some.append(Measure(traffic.PATH_MTU, 4096, "bytes", flow.where))
                else:
                    some.append(Measure(phase, 2.5 * self.luck.gauss(1, 0.02), "us", flow.where))
        return found

    def _share(self, flow: traffic.Flow) -> float:
        ends = ((flow.sender, flow.sender_rail), (flow.receiver, flow.receiver_rail))
        between = (self.unit_of.get(flow.sender, ""), self.unit_of.get(flow.receiver, ""))
        return min(*(self.cables.get(end, 1.0) for end in ends), self.paths.get(between, 1.0))


class Kept:
    """Records in memory, as text, so that nothing but JSON survives a kill."""

    def __init__(self, slurm: Slurm) -> None:
        self.alive = slurm.alive
        self.run = ""
        self.results: list[Result] = []

    def save(self, progress: Progress) -> None:
        self.alive()
        self.run = json.dumps(progress.to_json())

    def load(self, settings: Settings) -> Progress | None:
        return Progress.from_json(json.loads(self.run), settings) if self.run else None

    def keep(self, result: Result) -> Path:
        self.results.append(Result.from_json(json.loads(json.dumps(result.to_json()))))
        return Path("result.json")


def proof(settings: Settings, slurm: Slurm, kept: Kept, said: list[str] | None = None) -> Proof:
    """A proof whose clock moves a second with each question."""
    clock = iter(START + timedelta(seconds=it) for it in range(1_000_000))
    slurm.unit_of = {name: it.unit for name, it in settings.placed.items()}
    lines = said if said is not None else []
    return Proof(
        settings,
        slurm,
        kept,
        lambda text: f"signed {text}",
        lambda: "key",
        lambda: next(clock),
        "0",
        lines.append,
        (CHECK,),
    )
