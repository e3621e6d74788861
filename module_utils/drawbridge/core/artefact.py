# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The files, commands and objects that a task would write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .file_entry import Entry

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Artefact:
    """The output of one task."""

    lines: Sequence[str] = ()
    """Commands, packages and remarks, in the order of the run."""
    files: Mapping[str, Entry] = field(default_factory=dict)
    """Files of the host, by path."""
    objects: Sequence[Json] = ()
    """Manifests for the API server, which the run applies."""
    handed: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    """Manifests that an administrator applies, by the file's name."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """Values of Helm releases, by name."""

    def __add__(self, other: Artefact) -> Artefact:
        lines, objects = [*self.lines, *other.lines], [*self.objects, *other.objects]
        files, handed = {**self.files, **other.files}, {**self.handed, **other.handed}
        return Artefact(lines, files, objects, handed, {**self.values, **other.values})
