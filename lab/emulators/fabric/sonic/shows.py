# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables that `show` prints, what it counts, and whom LLDP sees, as in sonic-utilities' command reference and tests.

Numbers have commas for thousands. A queue that nothing counts shows N/A.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.data_model import PRIORITIES, count
from lab.emulators.fabric.releases import older
from lab.emulators.fabric.sonic import configdb
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lab.emulators.fabric.switch import State


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], align: str = "<") -> str:
    """Return a table with tablefmt=simple."""
    wide = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    lines = [head, ["-" * width for width in wide], *rows]
    return "\n".join(
        "  ".join(f"{cell:{align}{width}}" for cell, width in zip(row, wide, strict=True)) for row in lines
    )


CAST = range(20)
"""Queues of a port; those above 7 are for multicast."""
NOTHING = "N/A"


def pfc(state: State) -> str:
    """`show pfc counters`: received and sent frames, one table each."""
    parts = []
    for title, name in (("Port Rx", "rx_pause"), ("Port Tx", "tx_pause")):
        head = (title, *(f"PFC{n}" for n in PRIORITIES))
        rows = [(port, *(_number(count(state, port, n, name)) for n in PRIORITIES)) for port in state["ports"]]
        parts.append(grid(head, rows, ">"))
    return "\n\n".join(parts)


def watchdog(state: State) -> str:
    """`show pfcwd stats`: of the queues that a watchdog checks, those with a storm."""
    head = ("QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP")
    rows = []
    for port, fields in state["running"].get("PORT_QOS_MAP", {}).items():
        watched = port in state["running"].get("PFC_WD", {})
        for n in filter(None, fields.get("pfcwd_sw_enable", "").split(",") if watched else []):
            storms, restored = (count(state, port, n, name) for name in ("storms", "restored"))
            if not storms:
                continue
            status = "stormed" if storms > restored else "operational"
            rows.append((f"{port}:{n}", status, f"{storms}/{restored}", "0/0", "0/0"))
    return grid((*head, "TX LAST OK/DROP", "RX LAST OK/DROP"), [(*row, "0/0", "0/0") for row in rows], ">")


def queues(state: State) -> str:
    """`show queue counters --json`."""
    return _json(
        state,
        lambda port, n: {
            "dropbytes": NOTHING,
            "droppacket": _number(count(state, port, n, "dropped")),
            "totalbytes": "0",
            "totalpacket": "0",
        },
    )


def marks(state: State) -> str:
    """`show queue wredcounters --json`."""
    return _json(
        state,
        lambda port, n: {
            "ecnmarkedbytes": NOTHING,
            "ecnmarkedpacket": _number(count(state, port, n, "marked")),
            "wreddropbytes": "0",
            "wreddroppacket": "0",
        },
    )


def watermarks(state: State) -> str:
    """`show queue watermark unicast --json`: the highest fill since a person cleared it."""
    return json.dumps([dict(zip(_peak_head(), row, strict=True)) for row in _peak_rows(state)], indent=4)


def watermark_table(state: State) -> str:
    """`show queue watermark unicast`."""
    return f"Egress shared pool occupancy per unicast queue:\n{grid(_peak_head(), _peak_rows(state), '>')}"


def _peak_head() -> tuple[str, ...]:
    return ("Port", *(f"UC{n}" for n in PRIORITIES))


def _peak_rows(state: State) -> list[tuple[str, ...]]:
    return [(port, *(str(count(state, port, n, "peak")) for n in PRIORITIES)) for port in state["ports"]]


def lldp(state: State) -> str:
    """`show lldp table`."""
    head = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    cables = sorted(state["neighbors"].items())
    rows = [(port, device, there, "BR", there) for port, (device, there) in cables]
    lines = ["Capability codes: (R) Router, (B) Bridge, (O) Other", grid(head, rows), "-" * 50]
    return "\n".join([*lines, f"Total entries displayed:  {len(rows)}"])


def _json(state: State, entry: Callable[[str, int], dict[str, str]]) -> str:
    ports: dict[str, Any] = {}
    for port in state["ports"]:
        counted = {f"UC{n}": entry(port, n) for n in PRIORITIES}
        others = {f"ALL{n}": dict.fromkeys(entry(port, 0), NOTHING) for n in CAST if n not in PRIORITIES}
        ports[port] = {**others, "time": "2026-11-25T09:00:00.000000", **counted}
    return json.dumps(ports, indent=2)


def _number(value: int) -> str:
    return f"{value:,}"


COUNTERS: dict[str, Callable[[State], str]] = {
    "lldp table": lldp,
    "pfc counters": pfc,
    "pfcwd stats": watchdog,
    "queue counters --json": queues,
    "queue watermark unicast": watermark_table,
    "queue watermark unicast --json": watermarks,
    "queue wredcounters --json": marks,
}


SINCE = {"queue wredcounters --json": "202505", "queue watermark unicast --json": "202511"}
"""Branches of sonic-utilities that have a command or an option first: show/main.py, scripts/watermarkstat."""
NO_OPTION, NO_COMMAND = "no such option: --json", 'No such command "wredcounters".'


def show(state: State, words: list[str]) -> str:
    """Return what `show WORDS` prints. Raises Refused."""
    text = " ".join(words)
    if text in SINCE and older(state, configdb.RELEASE, SINCE[text]):
        option = text.endswith("--json") and text.removesuffix(" --json") in SHOWS
        raise Refused(f"Usage: show [OPTIONS] COMMAND [ARGS]...\n\nError: {NO_OPTION if option else NO_COMMAND}")
    if answer := SHOWS.get(text):
        return answer(state)
    raise Refused(f'Usage: show [OPTIONS] COMMAND [ARGS]...\n\nError: No such command "{" ".join(words)}".')


def _priorities(state: State) -> str:
    rows = [(port, fields.get("pfc_enable", "N/A")) for port, fields in _table(state, "PORT_QOS_MAP")]
    return f"\n{grid(('Interface', 'Lossless priorities'), rows)}\n"


def _ecn(state: State) -> str:
    parts = []
    for name, fields in _table(state, "WRED_PROFILE"):
        wide = [max(map(len, column)) for column in zip(*fields.items(), strict=True)]
        rule = "  ".join("-" * width for width in wide)
        rows = [f"{field:{wide[0]}}  {value}" for field, value in fields.items()]
        parts += [f"Profile: {name}", rule, *rows, rule, ""]
    return "\n".join(parts)


def _watchdog(state: State) -> str:
    table = dict(_table(state, "PFC_WD"))
    keys = ("action", "detection_time", "restoration_time", "pfc_stat_history")
    rows = [(port, *(it.get(key, "N/A") for key in keys)) for port, it in table.items() if port != "GLOBAL"]
    head = ("PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY")
    poll = table.get("GLOBAL", {}).get("POLL_INTERVAL")
    first = [f"Changed polling interval to {poll}ms"] if rows and poll else []
    return "\n".join([*first, grid(head, rows, ">")])


def _interfaces(state: State) -> str:
    head = ("Interface", "Lanes", "Speed", "MTU", "Alias", "Oper", "Admin")
    rows = [
        (port, it["lanes"], f"{int(it['speed']) // 1000}G", it.get("mtu", "9100"), it["alias"], up, up)
        for port, it in _table(state, "PORT")
        for up in [it.get("admin_status", "down")]
    ]
    return grid(head, rows, ">")


def _flaps(state: State) -> str:
    return grid(("Interface", "Flap Count"), [(port, str(it["flaps"])) for port, it in state["ports"].items()])


def _running(state: State) -> str:
    """Print text before the JSON, as the real program does."""
    return f"Current running configuration:\n{configdb.printed(state['running'])}"


SHOWS: dict[str, Callable[[State], str]] = {
    "ecn": _ecn,
    "interfaces flap": _flaps,
    "interfaces status": _interfaces,
    "pfc priority": _priorities,
    "pfcwd config": _watchdog,
    "runningconfiguration all": _running,
    **COUNTERS,
}


def _table(state: State, name: str) -> list[tuple[str, dict[str, str]]]:
    """Return entries in natural order."""
    entries = state["running"].get(name, {})
    return sorted(
        entries.items(), key=lambda entry: [int(n) if n.isdigit() else n for n in re.split(r"(\d+)", entry[0])]
    )
