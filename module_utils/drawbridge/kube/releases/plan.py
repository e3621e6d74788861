# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A release of a chart: helm's record of it, and its objects as the API server has them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.converge import Step
from .manifests import DEFINITION
from .values import leaves


@dataclass(frozen=True)
class Record:
    """Helm's record: chart and version as one word, the values, and the status of its last run."""

    chart: str
    values: Mapping[str, Any]
    status: str = "deployed"


@dataclass(frozen=True)
class ObjectState:
    """An object of the release. `values` and `wanted` hold the fields that differ, or did when the run began."""

    present: bool
    values: Mapping[str, str] = field(default_factory=dict)
    wanted: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_sync(self) -> bool:
        """Whether an apply would change no field."""
        return self.present and self.values == self.wanted


@dataclass(frozen=True)
class Release:
    """The release and its objects by title, in the order of creation."""

    record: Record | None
    objects: Mapping[str, ObjectState] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Lines of a diff: helm's record, and the objects that differ, or did when the run began."""
        found = []
        if self.record:
            found.append(f"release {self.record.chart} {self.record.status}")
            found += [f"  {line}" for line in values_lines(self.record.values)]
        for title, item in self.objects.items():
            if not item.present:
                found.append(f"{title} absent")
            found += [f"{title} {path}: {value}" for path, value in sorted(item.values.items())]
        return found


def values_lines(values: Mapping[str, Any]) -> list[str]:
    """One line per value."""
    return sorted(f"{'.'.join(path)}: {json.dumps(value, sort_keys=True)}" for path, value in leaves(values))


def plan(have: Release, want: Release) -> list[Step[Release]]:
    """Definitions of kinds first, then the release, then edited objects that helm does not repair.

    Missing objects that the run may create by name only come first too: helm's POST has no name to grant.
    `want` has only helm's record: each object holds its own wanted fields.
    """
    wrong = [title for title, item in have.objects.items() if not item.in_sync]
    missing = {title for title in wrong if not have.objects[title].present and by_name(title)}
    early = [title for title in wrong if title.startswith(DEFINITION) or title in missing]
    steps = [_repair(have, title) for title in early]
    if want.record and have.record != want.record:
        becomes = functools.partial(replace, record=want.record)
        steps.append(Step(_sentence(have.record, want.record), becomes, ("release", "")))
    return steps + [_repair(have, title) for title in wrong if title not in early]


def by_name(title: str) -> bool:
    """Whether the object is of the whole cluster, or grants rights."""
    return "/" not in title or title.startswith(("Role ", "RoleBinding "))


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


def _repair(have: Release, title: str) -> Step[Release]:
    item = have.objects[title]
    fields = sorted(path for path, value in item.wanted.items() if item.values.get(path) != value)
    reason = f"change {title}: {', '.join(fields)}" if item.present else f"make {title}"

    def becomes(state: Release) -> Release:
        wanted = state.objects[title].wanted
        return replace(state, objects={**state.objects, title: ObjectState(True, wanted, wanted)})

    return Step(reason, becomes, ("object", title))
