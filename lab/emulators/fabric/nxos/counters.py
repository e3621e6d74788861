# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a Nexus counts, queue by queue, as JSON: NX-OS prints a table of one row as an object, of several as a list.

Keys: Cisco's reference of show commands (`show queuing tabular`, `show queuing pfc-queue`, `show queuing interface`),
and collectors of the LLDP table. A queue's number is that of its qos-group; `counters` has it under that number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli import tree
from lab.emulators.fabric.cli.shows import Answer, Question, Shows
from lab.emulators.fabric.counted import PRIORITIES, count

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, Any]
INTERFACE = "queuing_interface"
KINDS = {"tx_uc_drop_pkt": "dropped", "tx_uc_ecn_pkt": "marked", "pfc_rx": "rx_pause", "pfc_tx": "tx_pause"}


def table(name: str, rows: list[Row]) -> Row:
    """Return a table as NX-OS prints it; nothing if it is empty."""
    return {f"TABLE_{name}": {f"ROW_{name}": rows[0] if len(rows) == 1 else rows}} if rows else {}


def _by_port(question: Question, row: Callable[[str], Row]) -> list[Row]:
    names = sorted(question.state["ports"], key=tree.natural)
    return [{"if_name_str": name, **row(name)} for name in names]


def _answer(data: Row) -> Answer:
    """The text form isn't modelled."""
    return Answer("", data)


def tabular(question: Question) -> Answer:
    """`show queuing tabular`: one flat row for each port."""

    def row(name: str) -> Row:
        state = question.state
        return {f"{key}_qos_{n}": str(count(state, name, n, what)) for key, what in KINDS.items() for n in PRIORITIES}

    return _answer(table(INTERFACE, _by_port(question, row)))


def depths(question: Question) -> Answer:
    """`show queuing interface`: statistics of each queue, packets and bytes apart."""

    def queue(name: str, n: int) -> Row:
        values = {("Tx", "Pkts"): 0, ("Tx", "Byts"): 0, ("Q Depth", "Byts"): count(question.state, name, n, "depth")}
        entries = [
            {"eq-stat-type": kind, "eq-stat-units": units, "eq-uc-stat-value": str(value), "eq-mc-stat-value": "0"}
            for (kind, units), value in values.items()
        ]
        return {"eq-qosgrp": str(n), **table("qosgrp_egress_stats_entry", entries)}

    def row(name: str) -> Row:
        queues = [queue(name, n) for n in PRIORITIES]
        special: list[Row] = [{"eq-qosgrp": "CONTROL QOS GROUP"}, {"eq-qosgrp": "SPAN QOS GROUP"}]
        return {"dir": "Egress", **table("qosgrp_egress_stats", [*queues, *special])}

    return _answer(table(INTERFACE, _by_port(question, row)))


def watchdog(question: Question) -> Answer:
    """`show queuing pfc-queue detail`: how often a queue was shut down and restored."""

    def row(name: str) -> Row:
        stuck = [n for n in PRIORITIES if count(question.state, name, n, "storms")]
        queues = [
            {
                "eq-qosgrp": str(n),
                **table(
                    "qosgrp_stats_entry",
                    [
                        {
                            "q-stat-type": "Stats",
                            "q-shutdown": str(count(question.state, name, n, "storms")),
                            "q-restored": str(count(question.state, name, n, "restored")),
                        }
                    ],
                ),
            }
            for n in stuck
        ]
        return {"wd-status": "Enabled", **table("qosgrp_stats", queues)}

    return _answer({"glb-wd-status": "Enabled", **table(INTERFACE, _by_port(question, row))})


def neighbours(question: Question) -> Answer:
    """`show lldp neighbors detail`: ports have their short names."""
    rows = [
        {"l_port_id": port.replace("Ethernet", "Eth"), "sys_name": device, "port_id": there, "port_desc": there}
        for port, (device, there) in question.state["neighbors"].items()
    ]
    return _answer({**table("nbor_detail", rows), "neigh_hdr": "neigh_hdr"})


COUNTERS: Shows = {
    "show queuing tabular": tabular,
    "show queuing interface": depths,
    "show queuing pfc-queue detail": watchdog,
    "show lldp neighbors detail": neighbours,
}
