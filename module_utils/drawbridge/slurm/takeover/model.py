# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of each line of a file that is not Drawbridge's yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OURS, KEPT, DROPPED = "ours", "kept", "dropped"
"""Groups: Drawbridge sets it; the intent keeps it; it vanishes, or loses its value."""


@dataclass(frozen=True)
class Change:
    """One line, before and after. `note` is the reason, or how to keep the line."""

    group: str
    old: str
    new: str = ""
    note: str = ""
    keep: tuple[str, ...] = ()
    """The path below drawbridge_slurm of the key that keeps the line; empty: `note` says all."""
    value: Any = ""
    """The value of that key, as the intent types it."""
