# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The measurements of an acceptance run as values: numbers, measurements that did not happen, remarks, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Measure:
    """One number that a tool measured.

    `name` is the quantity ("rail bandwidth"), `unit` is one of "Gb/s", "GB/s", "us", "TFLOPS", "ops/s" and "bytes".
    `where` names the measured parts ("gpu01 rail3 -> gpu02 rail3").
    """

    name: str
    value: float
    unit: str
    where: str


@dataclass(frozen=True)
class Missing:
    """A measurement that did not happen. It is a failure of its own kind, never a pass."""

    name: str
    where: str
    why: str


@dataclass(frozen=True)
class Remark:
    """A finding without a number: the tool ran, but not over the path it should have used."""

    name: str
    where: str
    why: str
    warning: bool = False
    """A warning fails no node."""
    ends: str = ""
    """What ends a drain for it: `reboot` or `repair`. Empty: that it is gone, unless health's row of the check says."""


Found = Union[Measure, Missing, Remark]
"""One result of a tool's output."""


@dataclass(frozen=True)
class Limit:
    """The value a measure is judged by, in `unit`: a floor when `at_least` is true, otherwise a ceiling.

    `why` is the derivation as one printed line, with the numbers that went in.
    """

    value: float
    unit: str
    at_least: bool
    why: str
