# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Prometheus' text format: samples of declared families as the text of one file."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core.printable import printable
from .families import FAMILIES

METRICS = Path("/run/drawbridge/metrics")
"""The folder in which all programs of Drawbridge write their metrics."""
_LABELS = {family.name: frozenset(family.labels) for family in FAMILIES.values()}


@dataclass(frozen=True)
class Sample:
    """One value of a family, with a value for each of its labels."""

    family: str
    labels: Mapping[str, str]
    value: float


def text(samples: Iterable[Sample]) -> str:
    """The text of a file: families in the table's order, each with its samples in theirs.

    Raises ValueError for a family that is not in the table, for other labels than the family's, and for a doubled
    sample. With one of these, node_exporter would drop the file.
    """
    lines: dict[str, dict[str, str]] = {}
    for sample in samples:
        family = FAMILIES.get(sample.family)
        if family is None or sample.labels.keys() != _LABELS[family.name]:
            raise ValueError(f"{sample.family} with labels {sorted(sample.labels)} is not in the table of metrics")
        pairs = [f'{label}="{_escaped(sample.labels[label])}"' for label in family.labels]
        name = f"{family.name}{{{','.join(pairs)}}}" if pairs else family.name
        own = lines.setdefault(family.name, {})
        if name in own:
            raise ValueError(f"{name} stands twice")
        own[name] = f"{name} {sample.value:.15g}"
    found = []
    for name, family in FAMILIES.items():
        if name in lines:
            found += [f"# HELP {name} {family.about}", f"# TYPE {name} {family.kind}", *lines[name].values()]
    return "\n".join(found) + "\n" if found else ""


@functools.lru_cache(maxsize=65536)  # a node or a job has many samples
def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
