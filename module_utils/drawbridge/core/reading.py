# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The work of a module that only reads: it plans nothing, and returns what it read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from .converge import Step
from .layer import Work


@dataclass(frozen=True)
class Nothing:
    """A reading module owns nothing."""

    def lines(self) -> list[str]:
        """No lines."""
        return []


class _Source:
    """A device that is only read."""

    def __init__(self, name: str, read: Callable[[], Mapping[str, Any]]) -> None:
        self.name, self._read = name, read
        self.found: Mapping[str, Any] = {}

    def read(self) -> Nothing:
        self.found = self._read()
        return Nothing()

    def apply(self, steps: Sequence[Step[Nothing]]) -> None:
        """Nothing is planned."""


def reading(name: str, read: Callable[[], Mapping[str, Any]]) -> Work[Nothing]:
    """`read` returns the module's results, in check mode too. It may raise DeviceError."""
    source = _Source(name, read)
    return Work(source, lambda have, want: [], Nothing(), results_of=lambda _: source.found)
