# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of an intent: key, value, reason, repair."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any


@dataclass(frozen=True)
class Fault:
    """One fault and its repair."""

    key: str
    value: Any
    reason: str
    repair: str

    def __str__(self) -> str:
        """Return one sentence: key is value, but reason; repair."""
        return f"{self.key} is {_shown(self.value)}, but {self.reason}; {self.repair}"


class IntentError(ValueError):
    """The intent is refused. `faults` holds all faults, in the order of the keys."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class _Missing:
    """The value of a missing key."""


MISSING = _Missing()


HIDDEN = "(not shown)"
"""In place of a value that may be a secret."""


def _shown(value: Any) -> str:
    if value is MISSING:
        return "missing"
    text = json.dumps(value, default=str)
    # a path is of no use without its end
    return text if len(text) <= 80 or isinstance(value, PurePath) else f"{text[:77]}..."
