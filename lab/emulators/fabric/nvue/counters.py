# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NVUE counts, and whom LLDP sees.

RoCE counters: keys and values of the table in NVIDIA's page on RoCE, `nv show interface swp16 qos roce counters`.
Usage of buffers has units for people; packets are plain numbers. LLDP: keys that NAPALM's driver for Cumulus Linux
reads.
"""

from __future__ import annotations

from typing import Any

from lab.emulators.fabric.counted import count

CNP, ROCE = 6, 3
"""The priorities of RoCE mode."""


def roce(state: dict[str, Any], name: str) -> dict[str, Any]:
    """Return `nv show interface NAME qos roce counters`."""
    return {
        "rx-stats": {
            "rx-pfc-stats": {"pause-duration": 0, "pause-packets": count(state, name, ROCE, "rx_pause")},
            "rx-roce-stats": {"buffer-usage": "0 Bytes", "no-buffer-discard": 0, "roce-bytes": "0 Bytes"},
        },
        "tx-stats": {
            "tx-cnp-stats": {"cnp-packets": 0, **_queue(state, name, CNP)},
            "tx-ecn-stats": {"ecn-marked-packets": count(state, name, ROCE, "marked")},
            "tx-pfc-stats": {"pause-duration": 0, "pause-packets": count(state, name, ROCE, "tx_pause")},
            "tx-roce-stats": {"roce-packets": 0, **_queue(state, name, ROCE)},
        },
    }


def lldp(state: dict[str, Any]) -> dict[str, Any]:
    """Return `nv show interface lldp`: ports with a neighbour have one below its name."""
    found: dict[str, Any] = {}
    for name in state["ports"]:
        found[name] = {"link": {"speed": "400G"}, "type": "swp"}
        if cable := state["neighbors"].get(name):
            device, port = cable
            neighbour = {"chassis": {"system-name": device}, "port": {"name": port, "type": "ifname"}}
            found[name]["lldp"] = {"neighbor": {device: neighbour}}
    return found


def _queue(state: dict[str, Any], name: str, priority: int) -> dict[str, Any]:
    return {
        "tc-max-usage": human(count(state, name, priority, "peak")),
        "tc-usage": human(count(state, name, priority, "depth")),
        "unicast-no-buffer-discard": count(state, name, priority, "dropped"),
    }


def human(value: int) -> str:
    """Return bytes as NVUE shows them."""
    for unit, size in (("MB", 1024 * 1024), ("KB", 1024)):
        if value >= size:
            return f"{value / size:.2f} {unit}"
    return f"{value} Bytes"
