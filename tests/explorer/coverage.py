# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What schedules reached, and what they should have."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .steps import RARE, STEPS

GATE = Path(__file__).resolve().parents[2] / "roles/slurm_gate/files/gate"
EDGES = (("closed", "held"), ("held", "dirty"), ("dirty", "closed"))
IMPOSSIBLE = {
    "crashed": "a breach in itself",
    "not noted": "the model's disks take everything",
    "not counted": "the model's disks take everything",
    "metrics not written": "the model writes no metrics",
}
"""Events of the gate that no schedule may reach, and why."""
VERDICTS = ("requeue", "hold", "end")


@dataclass
class Seen:
    """Counted over all schedules."""

    met: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    edges: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(
        self,
        met: Mapping[tuple[str, str, str], int],
        steps: Mapping[tuple[str, str], int],
        events: Mapping[str, int],
        edges: Mapping[tuple[str, str], int],
    ) -> None:
        """Count one more."""
        self.met.update(met)
        self.steps.update(steps)
        self.events.update(events)
        self.edges.update(edges)

    def summary(self) -> str:
        """The counts that people want to see."""
        rare = min(self.met.items(), key=lambda it: it[1], default=(("", "", ""), 0))
        lines = [
            "edges: " + ", ".join(f"{a} -> {b} {count}" for (a, b), count in sorted(self.edges.items())),
            "events: " + ", ".join(f"{name} {count}" for name, count in self.events.most_common()),
            f"I/O calls: {sum(self.steps.values())} of {len(self.steps)} kinds; faults met: {sum(self.met.values())} "
            f"of {len(self.met)} kinds, the rarest {rare[1]} times ({', '.join(rare[0])})",
        ]
        return "\n".join(lines)


def gaps(seen: Seen, targets: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """What was never reached, and steps that nobody has listed."""
    yield from (f"edge {a} -> {b}" for a, b in EDGES if not seen.edges[a, b])
    yield from (f"event {name!r}" for name in events() if not seen.events[name] and name not in IMPOSSIBLE)
    known = {*RARE, *((verb, step) for verb, steps in STEPS.items() for step in steps)}
    yield from (f"steps.py does not list {verb}: {step}" for verb, step in sorted(set(seen.steps) - known))
    yield from (f"{fault} at {verb}: {step}" for verb, step, fault in targets if not seen.met[fault, verb, step])


def events() -> list[str]:
    """Names of all events that the gate's sources log."""
    found = {"open", "dirty", "close"}  # edges, by their names
    for path in sorted(GATE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "event":
                found |= _names(node.args[0])
    return sorted(found)


def _names(node: ast.expr) -> set[str]:
    """A name that is written out; of one that ends with a verdict, all of them."""
    if isinstance(node, ast.Constant):
        return {str(node.value)}
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        return {f"{node.values[0].value}{verdict}" for verdict in VERDICTS}
    return set()
