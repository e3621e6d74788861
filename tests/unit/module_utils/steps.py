# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the steps of a plan lead to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def after(steps: Iterable[Any], state: Any) -> Any:
    """The state that the steps say they make of this one."""
    for step in steps:
        state = step.becomes(state)
    return state
