# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a switch has counted, port by port and priority by priority. The state has it under `counters`:

    {"Ethernet1": {"3": {"rx_pause": 7, "tx_pause": 1, "marked": 40, "dropped": 0, "storms": 1, "restored": 1,
                         "depth": 0, "peak": 8192}}}

No packet passes an emulated switch, so a test writes the numbers. What is not written is 0.
"""

from __future__ import annotations

from typing import Any

NAMES = ("rx_pause", "tx_pause", "marked", "dropped", "storms", "restored", "depth", "peak")
PRIORITIES = range(8)


def count(state: dict[str, Any], port: str, priority: int | str, name: str) -> int:
    """Return one number."""
    if name not in NAMES:
        raise KeyError(name)
    return int(state.get("counters", {}).get(port, {}).get(str(priority), {}).get(name, 0))
