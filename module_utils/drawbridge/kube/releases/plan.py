# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A release of a chart: what helm remembers of it, and its objects as the API server has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Callable

from ...core.converge import Step
from .manifests import DEFINITION
from .values import leaves


@dataclass(frozen=True)
class Record:
    """What helm remembers: chart and version as one word, the values that were given, how the last run ended."""

    chart: str
    values: Mapping[str, Any]
    status: str = "deployed"


@dataclass(frozen=True)
class Thing:
    """An object of the release. `values` and `wanted` hold the fields of it that differ or did when the run began."""

    present: bool
    values: Mapping[str, str] = field(default_factory=dict)
    wanted: Mapping[str, str] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Whether an apply would leave it as it is."""
        return self.present and self.values == self.wanted


@dataclass(frozen=True)
class Release:
    """The release and its objects by their titles, in the order of their making."""

    record: Record | None
    things: Mapping[str, Thing] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """What helm remembers, and the objects that are not as they should be or were not."""
        found = []
        if self.record:
            found.append(f"release {self.record.chart} {self.record.status}")
            found += [f"  {line}" for line in values_lines(self.record.values)]
        for title, thing in self.things.items():
            if not thing.present:
                found.append(f"{title} absent")
            found += [f"{title} {path}: {value}" for path, value in sorted(thing.values.items())]
        return found


def values_lines(values: Mapping[str, Any]) -> list[str]:
    """Values, a line each."""
    return sorted(f"{'.'.join(path)}: {json.dumps(value, sort_keys=True)}" for path, value in leaves(values))


def plan(have: Release, want: Release) -> list[Step[Release]]:
    """Definitions of kinds first, then the release, then what helm leaves as others have edited it.

    Reads `want` for helm's record alone: what the objects should be stands beside what they are.
    """
    wrong = [title for title, thing in have.things.items() if not thing.right]
    early = [title for title in wrong if title.startswith((DEFINITION, "Namespace"))]
    steps = [_mend(have, title) for title in early]
    if want.record and have.record != want.record:
        steps.append(Step(_sentence(have.record, want.record), _recorded(want.record), ("release", "")))
    return steps + [_mend(have, title) for title in wrong if title not in early]


def _sentence(have: Record | None, want: Record) -> str:
    if have is None:
        return f"install {want.chart}"
    if have.chart != want.chart:
        return f"upgrade {have.chart} to {want.chart}"
    if have.values == want.values:
        return f"upgrade {want.chart}: helm left it {have.status}"
    changed = sorted({*values_lines(have.values)} ^ {*values_lines(want.values)})
    names = sorted({line.split(": ", 1)[0] for line in changed})
    return f"upgrade {want.chart}: values {', '.join(names)}"


def _mend(have: Release, title: str) -> Step[Release]:
    thing = have.things[title]
    fields = sorted(path for path, value in thing.wanted.items() if thing.values.get(path) != value)
    reason = f"change {title}: {', '.join(fields)}" if thing.present else f"make {title}"
    return Step(reason, _mended(title), ("object", title))


def _recorded(record: Record) -> Callable[[Release], Release]:
    return lambda state: replace(state, record=record)


def _mended(title: str) -> Callable[[Release], Release]:
    def becomes(state: Release) -> Release:
        thing = state.things[title]
        return replace(state, things={**state.things, title: Thing(True, thing.wanted, thing.wanted)})

    return becomes
