# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Defects that no author chose: `python -m tests.mutants.drawn --seed 1 --count 60`.

A seed draws small changes in what decides most: the engine, the gate, accounting, the plan of a switch. A defect is
found if a test of its subsystem fails. The others are printed: some change nothing that matters, others show where a
test is missing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.mutants.copies import Copy, spread
from tests.mutants.table import ROOT, Seen

COPIES = 6
"""More than cores: tests of SSH and of tools that hang wait most of the time."""
TIMEOUT_S = 900.0
UNITS, UTILITIES = "tests/unit", "module_utils/drawbridge"
AREAS = {
    f"{UTILITIES}/core/*.py": (f"{UNITS}/module_utils/core", f"{UNITS}/library", f"{UNITS}/module_utils/site"),
    "roles/slurm_gate/files/gate/*.py": (f"{UNITS}/roles/slurm_gate",),
    f"{UTILITIES}/slurm/accounting/*.py": (f"{UNITS}/module_utils/slurm", f"{UNITS}/module_utils/site"),
    f"{UTILITIES}/fabric/plan.py": (f"{UNITS}/module_utils/fabric",),
}
"""Files, and the tests of their subsystem in the order in which they are heard."""
OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Drawn:
    """One change: bytes of a file, and the text in their place."""

    file: str
    line: int
    start: int
    end: int
    text: str

    def apply(self, text: str) -> str:
        """The file's text with the defect in it."""
        raw = text.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.end :]).decode()

    def __str__(self) -> str:
        raw = (ROOT / self.file).read_bytes()[self.start : self.end].decode()
        return f"{self.file}:{self.line}: {' '.join(raw.split())!r} -> {self.text!r}"


def changed(node: Any) -> Iterator[Any]:
    """What may replace a node."""
    match node:
        case ast.Compare(ops=[op]):
            other = copy.copy(node)
            other.ops = [OTHER[type(op)]()]
            yield other
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.If(test=test) | ast.IfExp(test=test):
            other = copy.copy(node)
            other.test = ast.UnaryOp(ast.Not(), test)
            yield other
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()


def defects(file: Path) -> list[Drawn]:
    """All changes of a file. Conditions and comparisons are changed where they stand, without what hangs on them."""
    raw = file.read_bytes()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    nodes: Iterator[Any] = ast.walk(ast.parse(raw))
    for node in nodes:
        for other in changed(node):
            old: Any
            old, new = (node.test, other.test) if isinstance(node, ast.If) else (node, other)
            start = starts[old.lineno - 1] + old.col_offset
            end = starts[old.end_lineno - 1] + old.end_col_offset
            text = ast.unparse(new)
            # brackets around keep what stands beside an expression apart
            text = f"({text})" if isinstance(new, ast.expr) else text
            found.append(Drawn(str(file.relative_to(ROOT)), old.lineno, start, end, text))
    return [it for it in found if compiles(it)]


def compiles(defect: Drawn) -> bool:
    """Whether Python takes it: a change inside of an f-string or a pattern may be no program."""
    try:
        compile(defect.apply((ROOT / defect.file).read_text()), defect.file, "exec")
    except SyntaxError:
        return False
    return True


def draw(seed: int, count: int) -> list[tuple[Drawn, Sequence[str]]]:
    """Defects, each with the folders of its tests: as many of each area as of any other."""
    chosen, chance = [], random.Random(seed)
    for at, (pattern, folders) in enumerate(AREAS.items()):
        every = [it for path in sorted(ROOT.glob(pattern)) for it in defects(path)]
        number = (count + at) // len(AREAS)
        chosen += [(it, folders) for it in chance.sample(every, min(number, len(every)))]
    return chosen


def found(seen: Sequence[Seen]) -> bool:
    """Whether a test failed, or did not end."""
    return any(it.outcome != "passed" for it in seen)


def heard(defect: Drawn, folders: Sequence[str], place: Copy) -> bool:
    """Plant it, and hear its tests until one fails."""
    with place.planted(defect):
        return any(found(place.hear([folder], timeout_s=TIMEOUT_S)) for folder in folders)


def unhurt(copies: Sequence[Copy], say: Callable[[str], None]) -> bool:
    """Whether all tests pass without a defect: else their failures show nothing."""
    folders = sorted({folder for each in AREAS.values() for folder in each})
    jobs = [partial(Copy.hear, tests=[folder], all=True, timeout_s=2 * TIMEOUT_S) for folder in folders]
    failed = [it for seen in spread(copies, jobs) for it in seen if it.outcome != "passed"]
    for it in failed:
        say(f"{it.test} fails without any defect")
    return not failed


def main() -> int:
    """Draw, plant, listen; 1 if fewer were found than requested."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.drawn", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--at-least", type=int, default=0, help="fail if fewer are found")
    options = parser.parse_args()
    chosen, begun = draw(options.seed, options.count), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        copies = [stack.enter_context(Copy(Path(scratch) / str(at))) for at in range(COPIES)]
        if not unhurt(copies, print):
            return 1
        number = 0
        jobs = [partial(heard, defect, folders) for defect, folders in chosen]
        for (defect, _folders), seen in zip(chosen, spread(copies, jobs), strict=True):
            number += seen
            print(f"{'found' if seen else 'NOT FOUND'}  {defect}", flush=True)
    print(f"seed {options.seed}: {number} of {len(chosen)} found, {time.monotonic() - begun:.0f} s")
    return int(number < options.at_least)


if __name__ == "__main__":
    sys.exit(main())
