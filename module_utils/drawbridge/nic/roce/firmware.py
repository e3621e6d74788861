# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of NIC firmware as mlxconfig has them: one value in effect, one for the next boot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_PARAMETER = re.compile(r"^\*? +([A-Z0-9_]+) +(\S+) +(\S+) +(\S+) *$", re.M)
_VALUE = re.compile(r"\w*\((\d+)\)")
NOT_AVAILABLE = "N/A"


@dataclass(frozen=True)
class Firmware:
    """The parameters of one port's firmware: the number in effect and that of the next boot."""

    pci: str
    values: dict[str, tuple[str, str]]

    def lines(self, port: str) -> list[str]:
        """Each parameter as a line of a diff."""
        return [f"{port} {name}: {now}, at the next boot {then}" for name, (now, then) in sorted(self.values.items())]

    def after(self, changes: Mapping[str, str]) -> Firmware:
        """The same with other values for the next boot."""
        return Firmware(self.pci, {name: (now, changes.get(name, then)) for name, (now, then) in self.values.items()})


def wanted(groups: Iterable[Mapping[str, Any]]) -> dict[str, Firmware]:
    """The parameters of each port, from the module's option."""
    found: dict[str, Firmware] = {}
    for group in groups:
        values = {name: (value, value) for name, _unused, value in (it.partition("=") for it in group["parameters"])}
        found.update((port, Firmware("", values)) for port in group["ports"] if values)
    return found


def differences(have: Firmware, want: Firmware, which: int) -> dict[str, str]:
    """Parameters that differ now (0) or at the next boot (1), and their wanted values. Unknown ones are absent."""
    goal = {name: value for name, (value, _unused) in want.values.items() if name in have.values}
    return {name: value for name, value in goal.items() if have.values[name][which] != value}


def said(changes: Mapping[str, str]) -> str:
    """As arguments of mlxconfig."""
    return " ".join(f"{name}={value}" for name, value in changes.items())


def parameters(printed: str) -> dict[str, tuple[str, str]]:
    """All of them, from `mlxconfig -e query`, whose columns are default, current and next boot."""
    rows = _PARAMETER.findall(printed)
    return {
        name: (_number(now), _number(then)) for name, _unused, now, then in rows if NOT_AVAILABLE not in (now, then)
    }


def _number(text: str) -> str:
    """True(1) and 0x1 as 1; other words as they are."""
    if match := _VALUE.fullmatch(text):
        return match.group(1)
    return str(int(text, 16)) if text.startswith("0x") else text
