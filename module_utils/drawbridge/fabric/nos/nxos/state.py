# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cisco NX-OS: counters of queues and LLDP neighbours, from JSON.

A queue has the number of its priority here, but for congestion notifications, which use queue 7.
"""

from __future__ import annotations

import json
import re
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
_PORT = re.compile(r"Eth(?:ernet)?([\d/]+)(?!\S)")


def reads(profile: SwitchProfile, release: str = "") -> tuple[StateRead, ...]:
    """The commands; all ports in one answer each."""
    del release
    strict = {str(STRICT): str(profile.cnp.priority)}
    return (
        StateRead(
            "queue counters", "show queuing tabular | json", lambda it: _tabular(it, strict), (*COUNTED.values(),)
        ),
        StateRead("queue depths", "show queuing interface | json", lambda it: _depths(it, strict), (DEPTH,)),
        StateRead(
            "watchdog storms", "show queuing pfc-queue detail | json", lambda it: _storms(it, profile), (STORMS,)
        ),
        StateRead("LLDP neighbours", "show lldp neighbors detail | json", _neighbours),
    )


def rows(data: Row, name: str) -> list[Row]:
    """The rows of a table: NX-OS prints a list, one row as an object, and no table without rows."""
    found = data.get(f"TABLE_{name}", {}).get(f"ROW_{name}", [])
    return found if isinstance(found, list) else [found]


def _ports(answer: str) -> list[tuple[str, Row]]:
    """The rows of ports with the ports' full names. A Nexus has them below its modules, Cisco's reference has none."""
    data = json.loads(answer)
    found = [row for module in rows(data, "module") or [data] for row in rows(module, "queuing_interface")]
    if not found:
        raise ValueError(answer)
    return [(_full(row["if_name_str"]), row) for row in found]


def _full(name: str) -> str:
    """The port's name, which may be short, or the first word of a text."""
    match = _PORT.match(name)
    return f"Ethernet{match[1]}" if match else name


def _tabular(answer: str, strict: dict[str, str]) -> Ports:
    return joined(
        counted(port, strict.get(match[2], match[2]), **{COUNTED[match[1]]: value})
        for port, row in _ports(answer)
        for key, value in row.items()
        if (match := _KEY.fullmatch(key))
    )


def _depths(answer: str, strict: dict[str, str]) -> Ports:
    return joined(
        counted(port, strict.get(queue["eq-qosgrp"], queue["eq-qosgrp"]), **{DEPTH: entry["eq-uc-stat-value"]})
        for port, row in _ports(answer)
        for queue in rows(row, "qosgrp_egress_stats")
        if str(queue["eq-qosgrp"]).isdigit()
        for entry in rows(queue, "qosgrp_egress_stats_entry")
        if entry["eq-stat-type"] == "Q Depth"
    )


def _storms(answer: str, profile: SwitchProfile) -> Ports:
    """NX-OS leaves out queues without a storm: theirs are 0, once the answer shows its ports."""
    found: list[Ports] = []
    for port, row in _ports(answer):
        for queue in rows(row, "qosgrp_stats"):
            entries = [it for it in rows(queue, "qosgrp_stats_entry") if "q-shutdown" in it]
            if not entries:
                raise ValueError(queue)
            found += [counted(port, queue["eq-qosgrp"], **{STORMS: it["q-shutdown"]}) for it in entries]
    silent = [counted(port, priority, **{STORMS: 0}) for port in profile.ports for priority in profile.lossless]
    return joined([*silent, *found])


def _neighbours(answer: str) -> Ports:
    return joined(
        neighbour(_full(row["l_port_id"]), row["sys_name"], row["port_id"])
        for row in rows(json.loads(answer), "nbor_detail")
    )
