# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a finding of preflight is, and what hosts answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Optional

Facts = Mapping[str, Any]
"""Answers of a host's probes by their names. A probe without an answer is missing, and counts as unknown."""
Want = Mapping[str, Any]
"""The host's view of the intent: the filter preflight_view derives it."""
Sees = Callable[[Facts, Want], str]
"""A sentence about a host with the fault, else an empty text."""

REACH, NAMES, SECURITY, SYSTEM, STORAGE, GPUS, NICS, EXISTING = (
    "Reach",
    "Names, clocks and users",
    "Security and proxies",
    "Operating system",
    "Disks and GPFS",
    "GPUs",
    "NICs and network",
    "Existing clusters",
)
CAUSES = (REACH, NAMES, SECURITY, SYSTEM, STORAGE, GPUS, NICS, EXISTING)
"""Groups of findings, in the order of a report."""


@dataclass(frozen=True)
class Finding:
    """One row of a table."""

    name: str
    """The word with which a site accepts it."""
    cause: str
    condition: str
    """When it is reported, for the guide."""
    why: str
    """The consequence for a run or the site."""
    repair: str
    sees: Optional[Sees] = None
    """None: hosts are compared."""


@dataclass(frozen=True)
class Found:
    """A finding of one host."""

    name: str
    host: str
    text: str


@dataclass(frozen=True)
class Answer:
    """The answer of one host."""

    host: str
    facts: Facts
    want: Want
    clock_s: Sequence[float] = ()
    """Least and greatest possible difference between the host's clock and this machine's."""
    lost: str = ""
    """Why there is no answer."""


def of_table(table: Sequence[Finding], answer: Answer) -> Iterator[Found]:
    """Findings of one host alone."""
    for row in table:
        if row.sees and (text := row.sees(answer.facts, answer.want)):
            yield Found(row.name, answer.host, text)
