# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What dcb prints about a port, and options of mlnx_qos as commands of dcb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .plan import NicPortQos
from .queues import PRIORITIES

Shown = Mapping[str, Any]


def parse(pfc: Shown, app: Shown, ets: Shown, dcbx: Shown, want: NicPortQos, up: bool) -> NicPortQos:
    """The port, from the JSON of each object; an object without keys could not be read.

    A driver without DCBX leaves it to the operating system. Other drivers have a key for each flag that is set, and no
    common flag for firmware that controls DCBX. A DSCP with several priorities counts with the one that differs.
    """
    entries = sorted(table(app), key=lambda entry: want.dscp_priority.get(entry[0]) != entry[1])
    mapped = dict(entries)
    return NicPortQos(
        "dscp" if mapped else "pcp",
        {dscp: mapped[dscp] for dscp in sorted(want.dscp_priority) if dscp in mapped},
        frozenset(priority for priority, on in enumerate(pfc["prio_pfc"]) if on),
        "os" if not dcbx or dcbx.get("host") else "fw",
        _queues(ets) if want.queues else (),
        int(pfc["delay"]) if want.cable_m else 0,
        up,
        maps_with_trust=True,
    )


def table(app: Shown) -> list[tuple[int, int]]:
    """DSCPs and their priorities. An entry may have a third, blank element."""
    return [(int(entry[0]), int(entry[1])) for entry in app.get("dscp_prio", ())]


def mapping(entries: Sequence[str]) -> dict[int, int]:
    """DSCPs and their priorities, from the words of a command."""
    return {int(dscp): int(priority) for dscp, _unused, priority in (entry.partition(":") for entry in entries)}


def changes(
    found: Sequence[tuple[int, int]], wanted: Mapping[int, int], exchanges: bool
) -> list[tuple[str, list[str]]]:
    """Verbs of `dcb app` with their entries, from the table to the wanted priorities. Other entries stay.

    The command `replace` adds an entry before it deletes the old one. Intel's ice refuses that. With Broadcom's bnxt
    the firmware may lose the new entry, too. Thus all old entries of a DSCP go first. The last entry of a table never
    goes: ice would turn PFC off. A driver that `exchanges` an entry has no moment without one.
    """
    new = [f"{dscp}:{priority}" for dscp, priority in wanted.items() if dscp not in dict(found)]
    commands = [("add", new)] if new else []
    for dscp, priority in wanted.items():
        old = [it for it in found if it[0] == dscp]
        if not old or old == [(dscp, priority)]:
            continue
        exchange = [("add", [f"{dscp}:{priority}"])]
        if not exchanges:
            exchange = [("del", [f"{dscp}:{it}" for _unused, it in old]), *exchange]
            if len(old) == len(found) and not new:
                keeps = [_spare(found)]
                exchange = [("add", keeps), *exchange, ("del", keeps)]
        commands += exchange
    return commands


def _spare(entries: Sequence[tuple[int, int]]) -> str:
    """An entry for a DSCP that has none, with the priority that the DSCP has without it."""
    taken = dict(entries)
    dscp = next(dscp for dscp in (0, 9, 18) if dscp not in taken)  # after it goes, ice gives a DSCP DSCP % 8
    return f"{dscp}:{dscp >> 3}"


def _queues(ets: Shown) -> tuple[tuple[int, str, int], ...]:
    """Queues with the first priority of each class as its number: a driver may have less than eight classes."""
    numbers: Sequence[int] = ets["prio_tc"]
    return tuple((numbers.index(it), ets["tc_tsa"][it], ets["tc_bw"][it]) for it in numbers)


def command(interface: str, options: Sequence[str], want: NicPortQos) -> list[str]:
    """Options of one change as the arguments of dcb. DCBX, trust, map, cable, shares and PFC are one object each."""
    name, value = options[0], options[1]
    device = ["dev", interface]
    if name == "-d":
        return ["dcbx", "set", *device, "host", "ieee"]
    if name == "--trust":  # a port trusts DSCP as soon as its table has an entry
        return ["app", "add", *device, "dscp-prio", *(f"{dscp}:{it}" for dscp, it in want.dscp_priority.items())]
    if name == "--dscp2prio":
        _unused, dscp, priority = value.split(",")
        return ["app", "add", *device, "dscp-prio", f"{dscp}:{priority}"]
    if name == "--cable_len":
        return ["pfc", "set", *device, "delay", value]
    if name == "--pfc":
        bits = enumerate(value.split(","))
        return ["pfc", "set", *device, "prio-pfc", *(f"{it}:{'on' if bit == '1' else 'off'}" for it, bit in bits)]
    return ["ets", "set", *device, *_shares(*(options[at].split(",") for at in (1, 3, 5)))]


def _shares(classes: Sequence[str], algorithms: Sequence[str], percent: Sequence[str]) -> list[str]:
    """The same classes with the numbers from 0, so that a driver with few of them can have them."""
    used = sorted({int(number) for number in classes})
    rest = len(PRIORITIES) - len(used)
    lists = {
        "tc-tsa": [*(algorithms[it] for it in used), *["strict"] * rest],
        "tc-bw": [*(percent[it] for it in used), *["0"] * rest],
        "prio-tc": [str(used.index(int(number))) for number in classes],
    }
    return [word for key, values in lists.items() for word in (key, *(f"{at}:{it}" for at, it in enumerate(values)))]
