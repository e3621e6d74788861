# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration lines that the emulated switch knows, mode by mode, in the order in which EOS prints them, and how.

Order and spelling: AVD's intended configurations and EOS 4.35 captures. Platforms differ: Broadcom XGS leafs have
`uc-tx-queue` and an ECN `weight`, Jericho spines have `tx-queue` and none. Whatever isn't here is `% Invalid input`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.emulators.fabric.cli.grammar import Grammar
from lab.emulators.fabric.cli.language import Language, Line
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.language import Line
    from lab.emulators.fabric.cli.tree import Node

XGS = "xgs"
JERICHO = "jericho"


GRAMMAR = Grammar(ports=("Ethernet", "Loopback", "Management", "Port-Channel"))
HASHED = {
    "ip": "ip load-sharing trident fields ip source-ip source-port destination-ip destination-port ingress-interface",
    "ipv6": "ip load-sharing trident fields ipv6 destination-port source-ip ingress-interface destination-ip"
    " source-port flow-label",
}
WATCHDOG = "priority-flow-control pause watchdog"
GLOBAL = (
    Line("username <name:word> <role:rest>", "username {name}", 10),
    Line("transceiver qsfp default-mode 4x10G", "transceiver", 20),
    Line("service routing protocols model <model:ribd|multi-agent>", "model", 30),
    Line("hostname <name:word>", "hostname", 40),
    Line("ntp server <address:word>", "ntp server {address}", 45),
    Line("qos profile <name:word>", "", 50, opens="qos-profile"),
    Line("spanning-tree mode <mode:mstp|rstp|rapid-pvst|none>", "spanning-tree mode", 60, "spanning-tree mode"),
    Line("interface <port:port>", "", 70, opens="if"),
    Line("ip routing", "ip routing", 80, kept="no ip routing"),
    Line("ip route <target:prefix> <hop:word>", "ip route {target} {hop}", 81),
    # Defaults and spelling: annet's rules for Arista. EOS doesn't print the fields that it uses of itself.
    *(
        Line(f"ip load-sharing trident fields {kind} <fields:rest>", f"load-sharing {kind}", 75, hidden=hidden)
        for kind, hidden in HASHED.items()
    ),
    Line("qos map dscp <dscp:list:0-63> to traffic-class <tc:int:0-7>", "qos map dscp {dscp}", 85, each="dscp"),
    # Traffic class 7 and queue 7 belong to each other for good: control traffic.
    Line(
        "qos map traffic-class <tc:list:0-6> to tx-queue <queue:int:0-6>", "qos map traffic-class {tc}", 85, each="tc"
    ),
    Line(f"{WATCHDOG} default timeout <seconds:seconds:0.01-60>", "timeout", 86),
    Line(f"{WATCHDOG} default recovery-time <seconds:seconds:0.01-60>", "recovery-time", 86),
    Line(f"{WATCHDOG} default polling-interval <seconds:seconds:0.005-30>", "polling-interval", 86),
    Line(f"{WATCHDOG} action <action:drop|errdisable|no-drop>", "action", 86, hidden=f"{WATCHDOG} action errdisable"),
)
TRUST = Line("qos trust <mode:cos|dscp>", "qos trust", kept="no qos trust")
PFC = (
    Line("priority-flow-control on", "pfc"),
    Line("priority-flow-control priority <priority:int:0-7> <action:no-drop|drop>", "pfc priority {priority}"),
    Line(WATCHDOG, "watchdog"),
)
PORT_HEAD = (
    Line("description <text:rest>", "description"),
    Line("shutdown", "shutdown"),
    Line("mtu <bytes:int:68-9214>", "mtu", hidden="mtu 1500"),
    Line("switchport access vlan <vlan:int:1-4094>", "access vlan", hidden="switchport access vlan 1"),
    Line("switchport", "switchport", kept="no switchport", hidden="switchport"),
    Line("channel-group <group:int:1-2000> mode <mode:active|passive|on>", "channel-group", off="channel-group"),
    Line("ip address <address:prefix>", "ip address"),
)
SERVICE_PROFILE = Line("service-profile <name:word>", "service-profile")
UNITS = "kbytes|bytes|mbytes|segments|milliseconds|microseconds"
ECN = (
    f"random-detect ecn minimum-threshold <min:int:1-1000000> <unit:{UNITS}>"
    f" maximum-threshold <max:int:1-1000000> <unit:{UNITS}> [max-mark-probability <probability:int:1-100>]"
)
ECN_OFF = "random-detect ecn [minimum-threshold <rest:rest>]"
PROFILE_QUEUE = {
    platform: (
        Line("priority strict", "priority", off="priority", kept="no priority"),
        Line("bandwidth percent <percent:int:1-100>", "bandwidth"),
        Line("bandwidth guaranteed <kbps:int:8-400000000>", "guaranteed", off="bandwidth guaranteed [<kbps:word>]"),
        # EOS doesn't print a weight of 0: it is the default.
        Line(ECN + weight, "ecn", off=ECN_OFF, dropped=" weight 0"),
    )
    for platform, weight in ((XGS, " [weight <weight:int:0-15>]"), (JERICHO, ""))
}
PORT_QUEUE = (
    Line("bandwidth guaranteed <kbps:int:8-400000000>", "guaranteed", off="bandwidth guaranteed [<kbps:word>]"),
    Line("random-detect ecn count", "ecn count"),
)
QUEUE_WORD = {XGS: "uc-tx-queue", JERICHO: "tx-queue"}
MODES = ("config", "if", "qos-profile", "if-queue", "profile-queue")


def table(mode: str, platform: str) -> tuple[Line, ...]:
    """Return the lines that a mode takes on a platform, in print order."""
    queue = f"{QUEUE_WORD[platform]} <queue:int:0-7>"
    return {
        "config": GLOBAL,
        "if": (*PORT_HEAD, TRUST, *PFC, SERVICE_PROFILE, Line(queue, "", opens="if-queue")),
        "qos-profile": (TRUST, *PFC, Line(queue, "", opens="profile-queue")),
        "if-queue": PORT_QUEUE,
        "profile-queue": PROFILE_QUEUE[platform],
    }[mode]


def prompt_part(header: str) -> str:
    """Return what a block adds to the prompt: `interface Ethernet1` -> `if-Et1`."""
    kind, _, name = header.rpartition(" ")
    if kind == "interface":
        return f"if-{name[:2]}{name.lstrip('abcdefghijklmnopqrstuvwxyzELM')}"
    return {"qos profile": "qos-profile", "uc-tx-queue": "uc-txq", "tx-queue": "txq"}[kind] + f"-{name}"


MAP = re.compile(r"(qos map (?:dscp|traffic-class)) (\d+) (to \S+ \d+)")
WATCHDOG_WARNING = (
    "! PFC watchdog polling-interval {have} is greater than half of the smaller of timeout and recovery-time;"
    " using {used}"
)


class Eos(Language):
    """Three spaces, `!` between blocks; queues that hold nothing don't show; maps to one class share a line."""

    grammar = GRAMMAR
    fixed = re.compile("interface Ethernet")

    def table(self, mode: str, platform: str) -> tuple[Line, ...]:
        """Return the lines that a mode takes on a platform, in print order."""
        return table(mode, platform)

    def check(self, config: Node, path: list[str], found: Match, *, removes: bool) -> None:
        """Take no marking that starts above the point where it is full."""
        del config, path
        if "max" in found.args and not removes and int(found.args["min"]) > int(found.args["max"]):
            raise Refused("% Minimum threshold cannot be greater than maximum threshold")

    def prints(self, title: str, text: str, node: Node) -> bool:
        """Hide what a port trusts by itself."""
        return not (title.startswith("interface") and text == _default_trust(node))

    def finish(self, printed: list[str]) -> list[str]:
        """Join the maps that lead to one class: `qos map dscp 24 26 to traffic-class 3`."""
        return _merge(printed)


EOS = Eos()


def warning(tree: Node) -> str:
    """Return what EOS warns of when the watchdog polls too seldom to keep its own times, or nothing."""
    have, used = polling(tree)
    return WATCHDOG_WARNING.format(have=have, used=used) if have and have != used else ""


def polling(tree: Node) -> tuple[str, str]:
    """Return the watchdog's polling interval as configured and as used, in seconds."""
    seconds = {key.split(" ", 1)[1]: text.split()[-1] for key, text in tree["lines"].items() if key.startswith("86.")}
    have = seconds.get("polling-interval", "")
    bounds = [float(seconds[name]) for name in ("timeout", "recovery-time") if name in seconds]
    if not have or not bounds:
        return have, have
    return have, f"{min(float(have), min(bounds) / 2):g}"


def _default_trust(node: Node) -> str:
    """Return what a port trusts by itself: DSCP when it routes, CoS when it switches."""
    return "qos trust dscp" if "no switchport" in node["lines"].values() else "qos trust cos"


def _merge(printed: list[str]) -> list[str]:
    numbers: dict[tuple[str, str], list[str]] = {}
    merged: list[str | tuple[str, str]] = []
    for line in printed:
        found = MAP.fullmatch(line)
        if found and (found[1], found[3]) not in numbers:
            merged.append((found[1], found[3]))
        if found:
            numbers.setdefault((found[1], found[3]), []).append(found[2])
        else:
            merged.append(line)
    return [line if isinstance(line, str) else f"{line[0]} {' '.join(numbers[line])} {line[1]}" for line in merged]
