# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the program asks the worker of each node in one job, and the lines in which a worker answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ...core import hostlist
from ..measure import Found, Measure, Missing, Remark
from ..node import ProofNode
from ..schedule.site import Test

MARK = "drawbridge-proof"
"""First word of a worker's line."""
PIECE = 700
"""Characters of one line. srun may divide longer ones and mix them with those of other nodes."""
_KINDS = {"measure": Measure, "missing": Missing, "remark": Remark}


@dataclass(frozen=True)
class Request:
    """The work of one job: checks of each node, or tests of the fabric, or passports to keep."""

    classes: Mapping[str, ProofNode]
    class_of: Mapping[str, str]
    """Hostlist of the nodes of each class."""
    checks: tuple[str, ...] = ()
    """Names of rows of the table of checks."""
    tests: tuple[Test, ...] = ()
    phases: tuple[str, ...] = ()
    """Measurements of the tests, one after the other."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    wait_s: float = 60.0
    """Seconds that a node waits for others of its test."""
    passports: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    """Text, signature and the controller's public key by node."""
    depends: bool = False
    """Whether the answer has what a passport depends on."""

    def to_json(self) -> str:
        """One line."""
        tests = [[test.kind, list(test.nodes), list(test.rails)] for test in self.tests]
        classes = {name: node.as_dict() for name, node in self.classes.items()}
        return json.dumps({**asdict(replace(self, classes={}, tests=())), "classes": classes, "tests": tests})

    @classmethod
    def from_json(cls, text: str) -> Request:
        """Read the text of to_json()."""
        data = json.loads(text)
        return cls(
            **{
                **data,
                "classes": {name: ProofNode.from_dict(it) for name, it in data["classes"].items()},
                "tests": tuple(Test(kind, tuple(nodes), tuple(rails)) for kind, nodes, rails in data["tests"]),
                "checks": tuple(data["checks"]),
                "phases": tuple(data["phases"]),
                "passports": {name: tuple(it) for name, it in data["passports"].items()},
            }
        )

    def node(self, name: str) -> ProofNode:
        """A node as its checks see it. Raises KeyError for a node that the request lacks."""
        for node_class, names in self.class_of.items():
            if hostlist.contains(names, name):
                return replace(self.classes[node_class], name=name)
        raise KeyError(name)


@dataclass(frozen=True)
class Answer:
    """What one node found, by the name of the check or the number of the test."""

    node: str
    found: Mapping[str, Sequence[Found]] = field(default_factory=dict)
    depends: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    """Why the worker could not do its work; its findings are then incomplete."""

    def lines(self) -> Iterator[str]:
        """The answer in short lines: mark, node, number of the piece, number of all pieces, the piece."""
        found = {key: [_plain(it) for it in some] for key, some in self.found.items()}
        text = json.dumps({"found": found, "depends": dict(self.depends), "error": self.error})
        pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
        for number, piece in enumerate(pieces, 1):
            yield f"{MARK} {self.node} {number} {len(pieces)} {piece}"


def answers(printed: str) -> dict[str, Answer]:
    """Whole answers by node, from the lines of all workers in any order. Other lines are left out."""
    pieces: dict[str, dict[int, str]] = {}
    wanted: dict[str, int] = {}
    for line in printed.splitlines():
        words = line.split(" ", 4)
        if len(words) == 5 and words[0] == MARK and words[2].isdigit() and words[3].isdigit():
            pieces.setdefault(words[1], {})[int(words[2])] = words[4]
            wanted[words[1]] = int(words[3])
    whole = {node: it for node, it in pieces.items() if len(it) == wanted[node]}
    return {node: _answer(node, "".join(it[at] for at in sorted(it))) for node, it in whole.items()}


def _answer(node: str, text: str) -> Answer:
    try:
        data = json.loads(text)
        found = {key: [_found(it) for it in some] for key, some in data["found"].items()}
        return Answer(node, found, data["depends"], data["error"])
    except (ValueError, KeyError, TypeError) as err:
        return Answer(node, error=f"its answer can't be read: {err}")


def _plain(found: Found) -> dict[str, Any]:
    kind = next(name for name, cls in _KINDS.items() if isinstance(found, cls))
    return {"kind": kind, **asdict(found)}


def _found(data: Mapping[str, Any]) -> Found:
    return _KINDS[data["kind"]](**{key: value for key, value in data.items() if key != "kind"})


def of_tests(found: Iterable[Answer]) -> dict[int, list[Found]]:
    """Findings of all nodes by the number of the test."""
    every: dict[int, list[Found]] = {}
    for answer in found:
        for key, some in answer.found.items():
            every.setdefault(int(key), []).extend(some)
    return every
