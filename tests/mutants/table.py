# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of planted defects: the text, its replacement, and which test must go red. Pure, but for reading files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ASSERTED = ("AssertionError", "Failed")
"""How a test says no: an assertion, or pytest.fail and a pytest.raises that saw nothing raised."""


class Seen(NamedTuple):
    """One phase of one test."""

    test: str
    when: str
    outcome: str
    error: str
    """The exception's type, or ""."""


class Defect(Protocol):
    """A change of one file."""

    @property
    def file(self) -> str:
        """Its path in the tree."""
        raise NotImplementedError

    def apply(self, text: str) -> str:
        """The file's text with the defect in it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Mutant:
    """One row. `file` has `find` exactly once."""

    name: str
    file: str
    find: str
    replace: str
    test: str
    """A pytest node; all its cases belong to it."""
    why: str
    """What would go wrong at a site."""
    error: str = ""
    """The exception that tells the defect where no assertion does."""
    invariant: str = ""
    """The gate's invariant that a schedule of tests/explorer sees broken."""
    focus: str = ""
    """The events that these schedules must have, because they are rare."""

    def apply(self, text: str) -> str:
        """The file's text with the defect in it."""
        return text.replace(self.find, self.replace, 1)


def read(folder: Path = HERE / "table") -> list[Mutant]:
    """All rows, those of one file together."""
    return [Mutant(**row) for path in sorted(folder.glob("*.yml")) for row in yaml.safe_load(path.read_text())]


def faults(mutants: list[Mutant], root: Path = ROOT) -> list[str]:
    """Rows that can't be tried: their text has moved, or the defect would not even compile."""
    found = [f"{name} stands there twice" for name, times in Counter(it.name for it in mutants).items() if times > 1]
    for it in mutants:
        path = root / it.file
        times = path.read_text().count(it.find) if path.is_file() else 0
        if times != 1:
            found.append(f"{it.name}: {it.file} has the text {times} times, and once is wanted: {it.find!r}")
        elif path.suffix == ".py":
            try:
                compile(it.apply(path.read_text()), it.file, "exec")
            except SyntaxError as err:
                found.append(f"{it.name}: the defect is no Python: {err}")
    return found


def of(test: str, seen: list[Seen]) -> list[Seen]:
    """The results of a test: of the cases of a function, of all tests of a file."""
    return [it for it in seen if it.test == test or it.test.startswith((f"{test}[", f"{test}::"))]


def verdict(seen: list[Seen], error: str = "") -> str:
    """`red` if a test said no, `green` if all passed; else why neither: a test that breaks tells nothing.

    `error` is an exception that counts as a no, too.
    """
    if not seen:
        return "no such test"
    failed = [it for it in seen if it.outcome != "passed"]
    if not failed:
        return "green"
    first = failed[0]
    if first.outcome == "failed" and first.when == "call" and first.error in (*ASSERTED, *filter(None, [error])):
        return "red"
    return f"{first.outcome} in {first.when}, {first.error or 'before it could begin'}"
