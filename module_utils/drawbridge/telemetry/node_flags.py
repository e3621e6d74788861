# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Flags of node_exporter for the RDMA ports of a node: few series of ethtool, which has about 1,000 for a port."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .exposition import METRICS

NEVER = 100000
"""A release that does not come."""
ANY_PRIORITY = tuple(range(8))
DIRECTORY = f"--collector.textfile.directory={METRICS}"
COUNTERS = (
    # mlx5 (NVIDIA)
    r"[rt]x_prio{p}_pause(_duration|_transition)?",
    r"rx_prio{p}_(discards|buf_discard|cong_discard|marked)",
    r"[rt]x_discards_phy|rx_out_of_buffer|[rt]x_global_pause",
    r"tx_pause_storm_(warning|error)_events",
    # ice (Intel); a dot in a name is an underscore for the collector
    r"[rt]x_priority_{p}_xo(n|ff).nic|rx_dropped.nic|link_xoff_[rt]x.nic",
    # bnxt (Broadcom)
    r"[rt]x_pfc_ena_frames_pri{p}|pfc_pri{p}_[rt]x_(duration_us|transitions)|rx_stat_discard",
    r"continuous_roce_pause_events",
    # ionic (AMD)
    r"frames_[rt]x_pripause[0-7]?|frames_rx_dropped",
)
"""Names that drivers print with `ethtool -S`: pause frames of a priority p, marks, and packets that were dropped."""


def flags(ports: Sequence[str], rdma: Sequence[str], priorities: Sequence[int]) -> list[dict[str, Any]]:
    """Groups of flags, as M(drawbridge.drawbridge.node_exporter) takes them.

    Without RDMA ports all devices stay out of ethtool's collector. Without lossless priorities all priorities count.
    """
    groups = [
        _group(DIRECTORY[2:], DIRECTORY, least=1009),
        # before 1.9 the flag can't be repeated
        _group("collector.textfile.directory", DIRECTORY, below=1009),
        _group("collector.pcidevice", "--collector.pcidevice", least=1010),
    ]
    if rdma:
        name = "collector.infiniband"
        groups.append(_group(name, f"--{name}", f"--{name}.device-include={_any(rdma)}", least=1012))
    if ports:
        name = "collector.ethtool"
        chosen = (f"--{name}.device-include={_any(ports)}", f"--{name}.metrics-include={counters(priorities)}")
        groups.append(_group(name, f"--{name}", *chosen, least=1003))
    return groups


def _group(own: str, *flags: str, least: int = 0, below: int = NEVER) -> dict[str, Any]:
    return {"least": least, "below": below, "own": own, "flags": list(flags)}


def counters(priorities: Sequence[int]) -> str:
    """The pattern of ethtool's counters."""
    chosen = f"[{''.join(str(priority) for priority in sorted(priorities or ANY_PRIORITY))}]"
    return f"^({'|'.join(COUNTERS).replace('{p}', chosen)})$"


def _any(names: Iterable[str]) -> str:
    return f"^({'|'.join(re.escape(name) for name in names)})$"
