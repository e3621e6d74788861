# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters and settings of a port as data, from what ethtool prints."""

from __future__ import annotations

import re

from ..links.text import port_settings

_COUNTER = re.compile(r"^\s+(\w+): (\d+)$", re.M)
_PRIORITY = re.compile(r"^(rx|tx)_prio([0-7])_(\w+)$")
_KEPT = re.compile(
    r"^link_down_events_phy$|^(rx|tx)_(discards_phy|out_of_buffer|global_pause\w*|pause_storm_\w+|symbol_err_phy|crc_errors_phy|\w*drop\w*)$"
)
"""Counters of a whole port that say why packets are lost or stopped; a driver has hundreds of others."""


def counters(printed: str) -> dict[str, int]:
    """Counters of the whole port by the driver's name, from `ethtool -S`. What the driver lacks is absent."""
    return {name: int(value) for name, value in _COUNTER.findall(printed) if _KEPT.match(name)}


def priorities(printed: str) -> dict[str, dict[str, int]]:
    """Counters of each priority, from `ethtool -S`: rx_pause of priority 3 is rx_prio3_pause."""
    found: dict[str, dict[str, int]] = {}
    for name, value in _COUNTER.findall(printed):
        if match := _PRIORITY.match(name):
            way, priority, counted = match.groups()
            found.setdefault(priority, {})[f"{way}_{counted}"] = int(value)
    return found


def global_pause(printed: str) -> dict[str, bool]:
    """Whether the port sends and obeys pause frames of all priorities, from `ethtool --json -a`."""
    return {name.split()[-1]: value == "on" for name, value in port_settings(printed).items()}


def celsius(printed: str) -> float:
    """A temperature of hwmon, which counts in thousandths."""
    return int(printed) / 1000
