# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers to show commands. The configuration is printed with `| display set` only.

`show system commit` is as Juniper's command reference and captures print it. An entry keeps the words "commit
confirmed" for good, and "rollback pending" stands below the newest one while it waits. `show class-of-service
interface` follows captures of QFX and of a router; that it names the profile of congestion notification is modelled.

Layouts of counters: a public capture of `show interfaces extensive` (Junos 22.4), collectors that read `show interfaces
queue` of AI fabrics, a capture of LLDP neighbours on a QFX5240. A queue whose class has a PFC priority has that number
in `counters`; any other queue has its own.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from lab.emulators.fabric.data_model import PRIORITIES, count
from lab.emulators.fabric.junos import checks, commits, schema, statements
from lab.emulators.fabric.junos.checks import COS
from lab.emulators.fabric.releases import release
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.emulators.fabric.junos.commits import State


def pauses(state: State, name: str) -> list[str]:
    """Return the part of `show interfaces extensive` on PFC."""
    rows = [(n, count(state, name, n, "rx_pause"), count(state, name, n, "tx_pause")) for n in PRIORITIES]
    return [
        "  MAC statistics:                      Receive         Transmit",
        "    MAC pause frames                         0                0",
        "  MAC Priority Flow Control Statistics:",
        *(f"    Priority :  {n} {received:>29} {sent:>16}" for n, received, sent in rows),
    ]


def queues(state: State, _match: re.Match[str], _pipes: list[str], _now: float) -> list[str]:
    """Return `show interfaces queue`: all ports."""
    classes = checks.classes(statements.in_force(state["active"]))
    lines: list[str] = []
    for name in state["ports"]:
        lines += [f"Physical interface: {name}, up, Physical link is Up", "Forwarding classes: 12 supported, 5 in use"]
        for title, it in classes.items():
            if "queue-num" in it:
                number = int(it.get("pfc-priority", it["queue-num"]))
                counts = [count(state, name, number, what) for what in ("dropped", "marked")]
                lines += _queue(it["queue-num"], title, *counts)
        lines.append("")
    return lines


def _queue(number: str, title: str, dropped: int, marked: int) -> list[str]:
    return [
        f"Queue: {number}, Forwarding classes: {title}",
        "  Queued:",
        f"    Packets              : {0:>21} {0:>21} pps",
        "  Transmitted:",
        f"    Packets              : {0:>21} {0:>21} pps",
        f"    Tail-dropped packets : {dropped:>21} {0:>21} pps",
        f"    RED-dropped packets  : {0:>21} {0:>21} pps",
        f"    ECN-CE packets       : {marked:>21} {0:>21} pps",
    ]


def neighbours(state: State, _match: re.Match[str], _pipes: list[str], _now: float) -> list[str]:
    """Return `show lldp neighbors`."""
    title = f"{'Local Interface':<19}{'Parent Interface':<20}{'Chassis Id':<41}{'Port info':<19}System Name"
    active = statements.in_force(state["active"])
    rows = [title]
    for port, (device, there) in state["neighbors"].items():
        bundle = statements.value(active, f"interfaces {port} ether-options 802.3ad") or "-"
        rows.append(f"{port:<19}{bundle:<20}{'00:00:5e:00:53:01':<41}{there:<19}{device}")
    return rows


PIPES = ("no-more", "display set", "display inheritance", "display xml")


def show(state: State, text: str, now: float) -> str:
    """Return what a show command prints. Raises Refused."""
    command, *pipes = [part.strip() for part in text.split("|")]
    if strange := [it for it in pipes if it not in PIPES and not it.startswith("match ")]:
        raise Refused(f"              ^\nsyntax error, expecting <command>: {strange[0]}")
    for pattern, answer in SHOWS.items():
        if match := re.fullmatch(pattern, command):
            return _matched(answer(state, match, pipes, now), pipes)
    raise Refused(schema.SYNTAX)


def _matched(lines: list[str], pipes: list[str]) -> str:
    for pipe in (it for it in pipes if it.startswith("match ")):
        wanted = pipe.removeprefix("match ").strip('"')
        lines = [line for line in lines if re.search(wanted, line, re.IGNORECASE)]
    return "\n".join(lines)


VERSION = "23.4R2.13"


def _version(state: State, _match: re.Match[str], _pipes: list[str], _now: float) -> list[str]:
    return ["Model: qfx5240-64od", f"Junos: {release(state, VERSION)}"]


def _configuration(state: State, match: re.Match[str], pipes: list[str], _now: float) -> list[str]:
    if "display set" not in pipes:
        raise Refused("error: the lab prints | display set only")
    config = state["active"]
    if "display inheritance" in pipes:
        config = [it for it in statements.inherited(config) if not it.startswith(("groups ", "apply-groups "))]
    path = (match[1] or "").strip()
    lines = statements.printed(config)
    return [it for it in lines if not path or statements.below(it.partition(" ")[2], path)]


def _commits(state: State, _match: re.Match[str], pipes: list[str], _now: float) -> list[str]:
    lines: list[str] = []
    for number, entry in enumerate(state["history"]):
        waits = not number and bool(state["pending"])
        if "display xml" in pipes:
            lines += _entry_xml(number, entry, waits)
            continue
        stamp = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(entry["time"]))
        timed = f" commit confirmed, rollback in {entry['minutes']}mins" if entry["minutes"] else ""
        lines.append(f"{number:<3} {stamp} by {entry['user']} via {entry['via']}{timed}")
        lines += [f"    {entry['comment']}"] if entry["comment"] else []
        lines += ["    rollback pending"] if waits else []
    return lines


def _entry_xml(number: int, entry: dict[str, object], waits: bool) -> list[str]:
    return [
        "<commit-history>",
        f"    <sequence-number>{number}</sequence-number>",
        f"    <user>{entry['user']}</user>",
        f"    <log>{entry['comment']}</log>",
        *(["    <commit-confirmed>rollback pending</commit-confirmed>"] if waits else []),
        "</commit-history>",
    ]


def _cos_interfaces(state: State, match: re.Match[str], _pipes: list[str], _now: float) -> list[str]:
    active = statements.in_force(state["active"])
    lines: list[str] = []
    bundles = dict.fromkeys(it.split()[-1] for it in active if " ether-options 802.3ad " in it)
    for index, name in enumerate([*state["ports"], *bundles]):
        if match[1] in (None, name):
            lines += [*_cos_interface(active, name, 1024 + index), ""]
    return lines


def _cos_interface(active: statements.Config, name: str, index: int) -> list[str]:
    profile = commits.bound(active, name, "congestion-notification-profile")
    used = len({it["queue-num"] for it in checks.classes(active).values() if "queue-num" in it})
    lines = [
        f"Physical interface: {name}, Index: {index}",
        f"Maximum usable queues: 12, Queues in use: {used}",
        "Exclude aggregate overhead bytes: disabled",
        "Logical interface aggregate statistics: disabled",
        f"  Scheduler map: {commits.bound(active, name, 'scheduler-map') or '<default>'}, Index: 2",
        f"  Congestion-notification: {f'Enabled, Name: {profile}, Index: 46504' if profile else 'Disabled'}",
    ]
    units = dict.fromkeys(it.split()[3] for it in active if it.startswith(f"interfaces {name} unit "))
    for unit in units:
        named = [commits.bound(active, name, f"{path}classifiers dscp") for path in (f"unit {unit} ", "unit * ", "")]
        classifier = next(filter(None, named), "dscp-default")
        lines += [
            "",
            f"  Logical interface: {name}.{unit}, Index: {index + 500}",
            f"{'Object':<24}{'Name':<23}{'Type':<24}Index",
            f"{'Classifier':<24}{classifier:<23}{'dscp':<24}9",
        ]
    return lines


def _interfaces(state: State, match: re.Match[str], _pipes: list[str], _now: float) -> list[str]:
    if match[1] and match[1] not in state["ports"]:
        raise Refused(f"error: device {match[1]} not found")
    return [line for name in state["ports"] if match[1] in (None, name) for line in (*_interface(state, name), "")]


def _interface(state: State, name: str) -> list[str]:
    active, port = statements.in_force(state["active"]), state["ports"][name]
    mtu = statements.value(active, f"interfaces {name} mtu") or commits.DEFAULT_MTU
    return [
        f"Physical interface: {name}, Enabled, Physical link is Up",
        f"  Link-level type: Ethernet, MTU: {mtu}, LAN-PHY mode, Speed: 400Gbps",
        "  Output errors:",
        f"    Carrier transitions: {port['flaps']}, Errors: 0, Drops: 0, Collisions: 0, Aged packets: 0",
        *pauses(state, name),
    ]


def _forwarding_classes(state: State, _match: re.Match[str], _pipes: list[str], _now: float) -> list[str]:
    lines = [f"{'Forwarding class':<32}{'ID':<8}{'Queue':<8}{'Policing priority':<20}{'No-Loss':<12}PFC priority"]
    for index, (name, it) in enumerate(checks.classes(statements.in_force(state["active"])).items()):
        lossless = "Enabled" if "no-loss" in it else "Disabled"
        queue, priority = it.get("queue-num", ""), it.get("pfc-priority", "")
        lines.append(f"  {name:<30}{index:<8}{queue:<8}{'normal':<20}{lossless:<12}{priority}".rstrip())
    return lines


SHOWS: dict[str, Callable[[State, re.Match[str], list[str], float], list[str]]] = {
    r"show configuration( .+)?": _configuration,
    r"show system commit": _commits,
    r"show version": _version,
    rf"show {COS} interface(?: (\S+))?": _cos_interfaces,
    rf"show {COS} forwarding-class": _forwarding_classes,
    r"show interfaces(?: (\S+))? extensive": _interfaces,
    r"show interfaces queue": queues,
    r"show lldp neighbors": neighbours,
}
