# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Prometheus' text format: samples of declared families as the text of one file, written in one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core.printable import printable
from .families import FAMILIES


@dataclass(frozen=True)
class Sample:
    """One value of a family, with a value for each of its labels."""

    family: str
    labels: Mapping[str, str]
    value: float


def text(samples: Iterable[Sample]) -> str:
    """The text of a file: families in the table's order, each with its samples in theirs.

    Raises ValueError for a family that is not in the table, for labels that are not the family's, and for a doubled
    sample: node_exporter would drop the whole file.
    """
    lines: dict[str, dict[str, str]] = {}
    for sample in samples:
        family = FAMILIES.get(sample.family)
        if family is None or set(family.labels) != set(sample.labels):
            raise ValueError(f"{sample.family} with labels {sorted(sample.labels)} is not in the table of metrics")
        name = family.name + _labels({label: sample.labels[label] for label in family.labels})
        own = lines.setdefault(family.name, {})
        if name in own:
            raise ValueError(f"{name} stands twice")
        own[name] = f"{name} {sample.value:.15g}"
    found = []
    for name, family in FAMILIES.items():
        if name in lines:
            found += [f"# HELP {name} {family.about}", f"# TYPE {name} {family.kind}", *lines[name].values()]
    return "\n".join(found) + "\n" if found else ""


def _labels(labels: Mapping[str, str]) -> str:
    pairs = (f'{label}="{_escaped(value)}"' for label, value in labels.items())
    return f"{{{','.join(pairs)}}}" if labels else ""


def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def write(folder: Path, file: str, content: str) -> None:
    """Replace the file, readable by all. Its reader sees the old text or the new one. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{file}.partial"
    partial.write_text(content, encoding="utf-8")
    partial.chmod(0o644)
    partial.replace(folder / file)
