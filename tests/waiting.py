# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Wait for what a lab does in its own time, on a machine that may have other things to do."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any

LOOK_S = 2.0
"""What one look uses up of the patience at most: a machine that stands still moves nothing else forward either."""
PAUSE_S, LONG_PAUSE_S, SOON_S = 0.3, 1.0, 5.0
"""Pauses between looks, for what comes soon and for what doesn't: a look costs the processor of its target, too."""


def until(true: Callable[[], Any], patience_s: float, what: str) -> Any:
    """The first true answer. A look that fails, as while a daemon starts, has seen nothing and is repeated.

    Raises AssertionError when there is no such answer in time, from what the last look failed of; TimeoutExpired of a
    command that hangs.
    """
    trouble: Exception | None = None
    spent = 0.0
    while spent < patience_s:
        begun = time.monotonic()
        try:
            if answer := true():
                return answer
            trouble = None
        except subprocess.TimeoutExpired:
            raise
        except Exception as err:
            trouble = err
        time.sleep(PAUSE_S if spent < SOON_S else LONG_PAUSE_S)
        spent += min(time.monotonic() - begun, LOOK_S)
    raise AssertionError(f"not within {patience_s:.0f} s: {what}") from trouble
