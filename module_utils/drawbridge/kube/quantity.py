# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' quantities, such as 500m, 2, 8126Mi or 1e3, as exact numbers."""

from __future__ import annotations

import re
from decimal import Decimal

_FORM = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][+-]?[0-9]+)|([KMGTPE]i|[numkMGTPE]?))")
_BINARY = {f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL = {
    **{letter: Decimal(1000) ** power for power, letter in enumerate(("", "k", "M", "G", "T", "P", "E"))},
    **{"m": Decimal(1) / 10**3, "u": Decimal(1) / 10**6, "n": Decimal(1) / 10**9},
}
UNITS = {**_BINARY, **_DECIMAL}


def quantity(text: object) -> Decimal | None:
    """The number; None for a text that Kubernetes can't parse, such as 8GB."""
    found = _FORM.fullmatch(str(text))
    if not found:
        return None
    number, exponent, unit = found.groups()
    return Decimal(number + exponent) if exponent else Decimal(number) * UNITS[unit]


def mebibytes(text: object) -> Decimal | None:
    """A quantity of bytes in MiB."""
    found = quantity(text)
    return None if found is None else found / UNITS["Mi"]
