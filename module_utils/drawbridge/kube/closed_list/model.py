# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the rows of the closed list are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Rows = Mapping[str, str]
"""Fields, each with a reason."""


@dataclass(frozen=True)
class Level:
    """All fields of one kind of object in a pod or a workload, as the API server publishes them."""

    judged: Rows = field(default_factory=dict)
    """With a part of the message of the policy's line that judges each, or "" where lines judge the fields below."""
    free: Rows = field(default_factory=dict)
    """With the reason why any value is harmless."""
    refused: Rows = field(default_factory=dict)
    """With the reason why jobs have none."""
    below: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Of fields that hold objects: ONE, EACH or KEYED, and the objects' level."""

    @property
    def known(self) -> list[str]:
        """Fields that jobs may have."""
        return sorted({*self.judged, *self.free})


ONE, EACH, KEYED = "one", "each", "keyed"
"""A field that holds an object, a list of objects, a map of objects by keys that people choose."""
