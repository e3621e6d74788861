# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gate says, and what its guide says that it says: every reason, log line and number, in the very words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from roles.slurm_gate.files.gate.metrics import HELP, PREFIX
from tests.conformance.tree import ROOT

PROGRAM = sorted((ROOT / "roles/slurm_gate/files/gate").glob("*.py"))
GUIDE = (ROOT / "docs/guides/operating-the-gate.md").read_text()
FAILURES = (ROOT / "docs/concepts/gate-failures.md").read_text()
TELLERS = {
    "Refused",
    "Unreachable",
    "not_empty",
    "comment_job",
    "Swap",
    "_told",
    "end_run",
    "_requeue_if_stuck",
    "append",
}
"""Calls with reasons among their arguments."""
REASONS = {"obstacle", "open_reason", "_foreign", "explain", "leftover", "_still_held", "_look"}
"""Functions that return one."""
NAMES = {"cause", "reason"}
"""What they are called until the gate reports them."""
SLURMS = {
    "PENDING (BeginTime)",
    "RUNNING",
    "drained",
    "down",
    "Not responding",
    "Epilog error",
    "Prolog error",
    "Duplicate jobid",
}
"""What Slurm says of jobs and nodes."""
GAP = "…"


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield (node.func.id if isinstance(node.func, ast.Name) else node.func.attr), node


def texts(node: ast.AST) -> Iterator[str]:
    """Texts in an expression, with a gap in the place of each value."""
    if isinstance(node, ast.JoinedStr):
        parts = (it.value if isinstance(it, ast.Constant) else GAP for it in node.values)
        yield "".join(str(part) for part in parts)
    elif isinstance(node, ast.Constant):
        yield str(node.value)
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def sentences(found: Iterator[str]) -> set[str]:
    """Text for people: several words, and no pattern."""
    gaps = re.compile(f"({GAP})+")
    return {gaps.sub(GAP, it) for it in found if len(it.replace(GAP, " ").split()) >= 2 and "\\" not in it}


def told() -> Iterator[str]:
    for path in PROGRAM:
        tree = ast.parse(path.read_text())
        for name, call in calls(tree):
            if name in TELLERS:
                yield from (text for argument in call.args for text in texts(argument))
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Assign)
                and {it.id for it in ast.walk(node.targets[0]) if isinstance(it, ast.Name)} & NAMES
            ):
                yield from texts(node.value)
            if isinstance(node, ast.FunctionDef) and node.name in REASONS:
                returns = (it.value for it in ast.walk(node) if isinstance(it, ast.Return) and it.value)
                yield from (text for value in returns for text in texts(value))


TOLD = sentences(told())


def rows(heading: str) -> list[str]:
    """First cells of the table below a heading of the guide."""
    table = GUIDE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines() if line.startswith("| `")]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_every_reason_is_explained_in_its_own_words() -> None:
    explained = [words for row in rows("Drain reasons and AdminComments") for words in quoted(row)]
    assert sorted(explained) == sorted(TOLD)


def test_every_line_of_the_log_is_explained() -> None:
    written = {name for path in PROGRAM for name in logged(ast.parse(path.read_text()))}
    assert sorted(words for row in rows("Log events") for words in quoted(row)) == sorted(written)


def logged(tree: ast.AST) -> Iterator[str]:
    """Names of events: an edge's name is its own."""
    for name, call in calls(tree):
        if name in ("event", "Edge") and isinstance(call.args[0], ast.Constant | ast.JoinedStr):
            yield from texts(call.args[0])


def test_every_number_is_explained() -> None:
    assert [words for row in rows("Metrics") for words in quoted(row)] == sorted(
        (PREFIX + name for name in HELP), key=lambda name: GUIDE.index(f"| `{name}`")
    )


def seen() -> list[str]:
    """What the failure tables quote of the gate."""
    cells = (line.split(" | ")[1] for line in FAILURES.splitlines() if line.startswith("| "))
    return [words for cell in cells for words in quoted(cell) if words not in SLURMS]


def known(words: str) -> bool:
    """Whether the gate says so: one of its reasons, and so is a sentence that fills a gap of it."""
    for reason in TOLD:
        found = re.fullmatch("(.+)".join(map(re.escape, reason.split(GAP))), words)
        if found and all(len(gap.split()) <= 2 or known(gap) for gap in found.groups()):
            return True
    return False


@pytest.mark.parametrize("words", seen())
def test_the_failure_table_quotes_what_the_gate_says(words: str) -> None:
    assert known(words.removeprefix("drawbridge gate: ").removeprefix(f"{GAP} "))
