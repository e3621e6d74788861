# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of a job, by question, and how a person reads them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Protocol

from .queries import OF

INSTANCE = "GPU_I_ID"
"""The exporter's label of a GPU's instance."""
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


class Value(Protocol):
    """One value of an answer, and the labels of its series."""

    @property
    def labels(self) -> Mapping[str, str]:
        raise NotImplementedError

    @property
    def value(self) -> float:
        raise NotImplementedError


class Numbers:
    """Answers by question: the first value of each, and where it was measured."""

    def __init__(self, values: Sequence[Value]) -> None:
        self._values: dict[str, list[Value]] = {}
        for value in values:
            self._values.setdefault(value.labels.get(OF, ""), []).append(value)

    def get(self, name: str) -> float | None:
        """The first value; None if there is none."""
        found = self._values.get(name)
        return found[0].value if found else None

    def at_least(self, name: str, limit: float) -> bool:
        """Whether there is a value, and it reaches the limit."""
        value = self.get(name)
        return value is not None and value >= limit

    def below(self, name: str, limit: float) -> bool:
        """Whether there is a value, and it is below the limit."""
        value = self.get(name)
        return value is not None and value < limit

    def label(self, name: str, label: str) -> str:
        """A label of the first value."""
        found = self._values.get(name)
        return str(found[0].labels.get(label, "?")) if found else "?"

    def gpu(self, name: str) -> str:
        """The GPU of the first value, or its instance, in words."""
        whole = f"GPU {self.label(name, 'gpu')} of {self.label(name, 'node')}"
        instance = self.label(name, INSTANCE)
        return whole if instance in ("?", "") else f"instance {instance} of {whole}"

    def rail(self, name: str) -> str:
        """The rail of the first value, in words."""
        return f"rail {self.label(name, 'rail')} of {self.label(name, 'node')}"

    def all(self, name: str) -> list[Value]:
        """All values, the highest first."""
        return sorted(self._values.get(name, []), key=lambda value: -value.value)

    def data(self) -> dict[str, Any]:
        """All of them as plain data."""
        return {
            name: [
                {"value": one.value, **{label: text for label, text in one.labels.items() if label != OF}}
                for one in values
            ]
            for name, values in self._values.items()
        }


def percent(share: float) -> str:
    """A part of one."""
    return f"{100 * share:.0f} %"


def amount(size: float) -> str:
    """Bytes in decimal units, as fabrics and disks are sold."""
    for unit in UNITS[:-1]:
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} {UNITS[-1]}"


def duration(seconds: float) -> str:
    """As Slurm prints it: 1-02:03:04, or 02:03:04."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{f'{days}-' if days else ''}{hours:02}:{minutes:02}:{rest:02}"


def moment(seconds: float) -> str:
    """A time in UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
