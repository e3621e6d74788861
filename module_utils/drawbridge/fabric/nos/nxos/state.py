# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cisco NX-OS: counters of queues and LLDP neighbours, from JSON.

A queue has the number of its priority here, but for congestion notifications, which use queue 7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...model import SwitchProfile
from ..state import (
    DEPTH,
    DROPPED,
    MARKED,
    RX_PAUSE,
    STORMS,
    TX_PAUSE,
    Ports,
    StateRead,
    counted,
    joined,
    neighbour,
)
from .capabilities import STRICT

Row = dict[str, Any]
COUNTED = {"pfc_rx": RX_PAUSE, "pfc_tx": TX_PAUSE, "tx_uc_ecn_pkt": MARKED, "tx_uc_drop_pkt": DROPPED}
_KEY = re.compile(rf"({'|'.join(COUNTED)})_qos_(\d)")
_SHORT = re.compile(r"^Eth(?=\d)")


def reads(profile: SwitchProfile) -> tuple[StateRead, ...]:
    """The commands; all ports in one answer each."""
    strict = {str(STRICT): str(profile.cnp.priority)}
    return (
        StateRead("queue counters", "show queuing tabular | json", lambda it: _tabular(it, strict)),
        StateRead("queue depths", "show queuing interface | json", lambda it: _depths(it, strict)),
        StateRead("watchdog storms", "show queuing pfc-queue detail | json", lambda it: _storms(it, profile)),
        StateRead("LLDP neighbours", "show lldp neighbors detail | json", _neighbours),
    )


def rows(data: Row, name: str) -> list[Row]:
    """The rows of a table: NX-OS prints a list, one row as an object, and no table without rows."""
    found = data.get(f"TABLE_{name}", {}).get(f"ROW_{name}", [])
    return found if isinstance(found, list) else [found]


def _ports(answer: str) -> Iterator[tuple[str, Row]]:
    """The rows of ports with the ports' full names."""
    for row in rows(json.loads(answer), "queuing_interface"):
        yield _full(row["if_name_str"]), row


def _full(name: str) -> str:
    return _SHORT.sub("Ethernet", name)


def _tabular(answer: str, strict: dict[str, str]) -> Ports:
    return joined(
        counted(port, strict.get(match[2], match[2]), **{COUNTED[match[1]]: int(value)})
        for port, row in _ports(answer)
        for key, value in row.items()
        if (match := _KEY.fullmatch(key)) and str(value).isdigit()
    )


def _depths(answer: str, strict: dict[str, str]) -> Ports:
    return joined(
        counted(port, strict.get(queue["eq-qosgrp"], queue["eq-qosgrp"]), **{DEPTH: int(entry["eq-uc-stat-value"])})
        for port, row in _ports(answer)
        for queue in rows(row, "qosgrp_egress_stats")
        if str(queue["eq-qosgrp"]).isdigit()
        for entry in rows(queue, "qosgrp_egress_stats_entry")
        if entry["eq-stat-type"] == "Q Depth"
    )


def _storms(answer: str, profile: SwitchProfile) -> Ports:
    """NX-OS may leave out queues without a storm: theirs are 0."""
    silent = [counted(port, priority, **{STORMS: 0}) for port in profile.ports for priority in profile.lossless]
    found = (
        counted(port, queue["eq-qosgrp"], **{STORMS: int(entry["q-shutdown"])})
        for port, row in _ports(answer)
        for queue in rows(row, "qosgrp_stats")
        for entry in rows(queue, "qosgrp_stats_entry")
        if "q-shutdown" in entry
    )
    return joined([*silent, *found])


def _neighbours(answer: str) -> Ports:
    return joined(
        neighbour(_full(row["l_port_id"]), row["sys_name"], row["port_id"])
        for row in rows(json.loads(answer), "nbor_detail")
    )
