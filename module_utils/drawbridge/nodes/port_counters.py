# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters of a NIC's port, from what `ethtool -S` prints."""

from __future__ import annotations

import re

PAUSE = "pause"
_COUNTER = re.compile(r"^\s+([\w.-]+): (\d+)$", re.M)
_PRIORITIES = {
    r"(?P<way>rx|tx)_prio(?P<at>[0-7])_(?P<what>\w+)": "",  # mlx5
    r"(?P<way>rx|tx)_priority_(?P<at>[0-7])_xoff\.nic": PAUSE,  # ice of the kernel
    r"port-(?P<way>rx|tx)-xoff_prio-(?P<at>[0-7])_events": PAUSE,  # ice of Intel's own package
    r"(?P<way>rx|tx)_pfc_ena_frames_pri(?P<at>[0-7])": PAUSE,  # bnxt, this and the next three
    r"pfc_pri(?P<at>[0-7])_(?P<way>rx|tx)_transitions": f"{PAUSE}_transition",
    r"pfc_pri(?P<at>[0-7])_(?P<way>rx|tx)_duration_us": f"{PAUSE}_duration",
    r"(?P<way>rx|tx)_(?P<what>bytes|packets)_pri(?P<at>[0-7])": "",
}
"""Names of a priority's counters by driver, and what they count; that is mlx5's word if the name has none."""
_KEPT = re.compile(
    r"link_down_events(_phy)?|link_xo(n|ff)_(rx|tx)\.nic|continuous_\w*pause_events|(rx|tx)_(out_of_buffer"
    r"|global_pause\w*|pause_storm_\w+|pause_frames|symbol_err_phy|pcs_symbol_err|crc_errors(_phy|\.nic)"
    r"|fcs_err_frames|\w*discard\w*|\w*drop\w*(\.nic)?)"
)
"""Counters of a whole port that say why packets are lost or stopped; a driver has hundreds of others."""


def counters(printed: str) -> dict[str, int]:
    """Counters of the whole port by the driver's name, from `ethtool -S`. What the driver lacks is absent."""
    found = {name: int(value) for name, value in _COUNTER.findall(printed) if _KEPT.fullmatch(name)}
    return {name: value for name, value in found.items() if not _of_priority(name)}


def priorities(printed: str) -> dict[str, dict[str, int]]:
    """Counters of each priority, from `ethtool -S`: rx_pause of priority 3 is rx_prio3_pause of mlx5."""
    found: dict[str, dict[str, int]] = {}
    for name, value in _COUNTER.findall(printed):
        if of := _of_priority(name):
            found.setdefault(of[0], {})[of[1]] = int(value)
    return found


def missing(found: dict[str, dict[str, int]]) -> str:
    """The counters of pauses that no priority has; empty if each has them."""
    wanted = [f"{way}_{PAUSE}" for way in ("rx", "tx")]
    return " and ".join(name for name in wanted if not any(name in it for it in found.values()))


def _of_priority(name: str) -> tuple[str, str] | None:
    """The priority that a counter is of, and what it counts there."""
    for pattern, what in _PRIORITIES.items():
        if match := re.fullmatch(pattern, name):
            return match["at"], f"{match['way']}_{what or match['what']}"
    return None
