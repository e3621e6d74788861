# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A check of a node as data: programs and files, how their findings are read, and the limit that judges them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Callable

from ..limits import Derived, NoLimit
from ..measure import Found, Measure
from ..node import ProofNode

STATE, LOAD, WATCH = "state", "load", "watch"
"""Kinds. A state check reads: preflight, health and the proof run it. A load check is the proof's alone, and a watch
check is health's: it reads what changes while a node is in service."""
ALONE, SAMPLE, TOGETHER = "alone", "sample", "together"
"""Who measures: all nodes, each for itself; one node of each class; all nodes at once what they share."""


FILES = "File systems"
"""Page of checks of file systems and disks."""


@dataclass(frozen=True)
class Program:
    """A command of a check. It is ended after `seconds`."""

    argv: tuple[str, ...]
    seconds: float
    folder: str = ""
    """Working directory. The runner makes it, and removes it with its content."""
    output: str = ""
    """File whose text follows the command's output, such as hpccoutf.txt of its folder."""
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Output:
    """What a command printed. `code` is 124 for one that was ended at its time, 127 for one that is not installed."""

    stdout: str
    stderr: str
    code: int


Texts = Mapping[str, str]
"""Files by path. A file that can't be read is absent."""


def no_programs(node: ProofNode) -> Sequence[Program]:
    """For checks that read files alone."""
    return ()


def no_files(node: ProofNode) -> Sequence[str]:
    """For checks that run programs alone."""
    return ()


def no_limit(node: ProofNode, measure: Measure) -> Derived:
    """For measures that are shown and not judged."""
    return NoLimit("it is shown for comparison", measure.unit)


@dataclass(frozen=True)
class Check:
    """One row of the table of checks. All functions are pure."""

    name: str
    """Small words, such as "GPU copies"; report, options and the page use it."""
    kind: str
    meaning: str
    """What a failure means, and what to look at: a sentence."""
    page: str
    """Heading of docs/concepts/proof-limits.md (load) or docs/concepts/proof-checks.md (others) that explains it."""
    applies: Callable[[ProofNode], bool]
    found: Callable[[ProofNode, Sequence[Output], Texts], list[Found]]
    """Of the outputs of the programs, in their order, and of the files."""
    programs: Callable[[ProofNode], Sequence[Program]] = no_programs
    files: Callable[[ProofNode], Sequence[str]] = no_files
    """Paths to read; each may have `*`."""
    limit: Callable[[ProofNode, Measure], Derived] = no_limit
    when: str = ALONE
