# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables that `show` prints, laid out as in sonic-utilities' command reference and tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.emulators.fabric.sonic import configdb
from lab.emulators.fabric.sonic.counters import COUNTERS
from lab.emulators.fabric.sonic.tables import grid
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.emulators.fabric.switch import State


def show(state: State, words: list[str]) -> str:
    """Return what `show WORDS` prints. Raises Refused."""
    if answer := SHOWS.get(" ".join(words)):
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
