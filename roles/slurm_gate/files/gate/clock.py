# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The only place where the gate reads a clock or waits."""

from __future__ import annotations

import time


class Clock:
    """The host's clock."""

    def now(self) -> float:
        """Monotonic seconds, for limits."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
