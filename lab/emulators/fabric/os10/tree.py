# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration lines of OS10, mode by mode, in the order in which it prints them, and what it refuses in them.

Spelling, order, ranges of numbers and the ` !` before a class: `show running-configuration` of OS10 10.5.1 (public
captures) and Dell's own RoCE configurations (H19195.5). The latter turn link-level flow control off before PFC is on.
WRED: the User Guide 10.5, congestion avoidance. Its chapter on QoS, [recalled]: `trust dscp-map`, by analogy with
dot1p, `priority`, and an error for a number that a map has already. The rest is [modelled], on the strict side. A class
has either priority or a share, shares are 100 percent at most, names must exist when they are used. Used names can't be
removed, and a port has one policy of a type until that is removed. Texts of refusals are [modelled]. Any other line is
`% Error: Unrecognized command.`
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli import language, tree
from lab.emulators.fabric.cli.grammar import Grammar, expand
from lab.emulators.fabric.cli.language import Line
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.language import Line
    from lab.emulators.fabric.cli.tree import Node

XGS = "xgs"
GRAMMAR = Grammar(
    ports=("ethernet", "mgmt", "vlan", "port-channel", "loopback"),
    invalid="% Error: Unrecognized command.",
    incomplete="% Error: Incomplete command.",  # [modelled]
    ambiguous="% Error: Ambiguous command.",  # [modelled]
)
HASHED = (
    *(f"{kind}-selection {end}-ip" for kind in ("ip", "ipv6") for end in ("source", "destination")),
    *(f"tcp-udp-selection l4-{end}-port" for end in ("source", "destination")),
    "mac-selection source-mac",
)
"""Fields of the hash: all on of themselves. A public capture prints each that is off as `no load-balancing FIELD`."""
GLOBAL = (
    Line("ip vrf <name:word>", "vrf {name}", 5),
    Line("hostname <name:word>", "hostname", 10),
    Line("dcbx enable", "dcbx", 10),
    Line("iscsi enable", "iscsi", 10),
    Line("system-user <name:word> password <secret:word>", "system-user", 10, off="system-user <name:word>"),
    Line("username <name:word> password <role:rest>", "username {name}", 10, off="username <name:word>"),
    Line("aaa authentication login <rest:rest>", "aaa {rest}", 10),
    Line("wred <name:word>", "", 20, opens="wred"),
    Line("class-map type application <name:word>", "", 30, opens="application"),
    Line("class-map type network-qos <name:word>", "", 30, opens="cmap-nqos"),
    Line("class-map type queuing <name:word>", "", 30, opens="cmap-queuing"),
    Line("trust dot1p-map <name:word>", "", 40, opens="tmap-dot1p-map"),
    Line("trust dscp-map <name:word>", "", 40, opens="tmap-dscp-map"),
    Line("qos-map traffic-class <name:word>", "", 50, opens="qos-map"),
    Line("policy-map type application <name:word>", "", 60, opens="application"),
    Line("policy-map type queuing <name:word>", "", 60, opens="pmap-queuing"),
    Line("policy-map type network-qos <name:word>", "", 60, opens="pmap-network-qos"),
    Line("system qos", "", 70, opens="sys-qos"),
    *(
        Line(
            f"load-balancing {field}",
            field,
            75,
            kept=f"no load-balancing {field}",
            hidden=f"load-balancing {field}",
        )
        for field in HASHED
    ),
    Line("interface <port:port>", "", 80, opens="if"),
)
TRUST = (
    Line("qos-map traffic-class <name:word>", "qos-map"),
    Line("trust-map dot1p <name:word>", "trust-map dot1p"),
    Line("trust-map dscp <name:word>", "trust-map dscp"),
)
ETS = Line("ets mode <mode:on|off>", "ets", off="ets [mode] [<mode:on|off>]", hidden="ets mode off")
PORT = (
    Line("description <text:rest>", "description"),
    Line("channel-group <number:int:1-128> mode <mode:active|passive|on>", "channel-group"),
    Line("vlt-port-channel <number:int:1-128>", "vlt"),
    Line("shutdown", "shutdown", kept="no shutdown"),
    Line("ip address dhcp", "dhcp", kept="no ip address dhcp"),
    Line("ip address <address:prefix>", "ip address"),
    Line("switchport", "switchport", kept="no switchport", hidden="switchport"),
    Line("switchport mode <mode:access|trunk>", "switchport mode", hidden="switchport mode access"),
    Line("switchport access vlan <vlan:int:1-4093>", "access vlan"),
    Line("mtu <bytes:int:1280-65535>", "mtu", hidden="mtu 1532"),
    # A new switch prints `receive on`, and never `transmit off`, on each port.
    Line("flowcontrol receive <state:on|off>", "flowcontrol receive"),
    Line("flowcontrol transmit <state:on|off>", "flowcontrol transmit", hidden="flowcontrol transmit off"),
    Line("priority-flow-control mode <mode:on>", "pfc", off="priority-flow-control [mode] [<mode:on>]"),
    Line("service-policy input type network-qos <name:word>", "policy network-qos"),
    Line("service-policy output type queuing <name:word>", "policy queuing"),
    ETS,
    *TRUST,
    Line("spanning-tree bpduguard enable", "bpduguard"),
    Line("spanning-tree port type edge", "edge"),
)
MODES: dict[str, tuple[Line, ...]] = {
    "config": GLOBAL,
    "if": PORT,
    "sys-qos": (*TRUST, Line("buffer-statistics-tracking", "bst"), ETS),
    "application": (),
    "wred": (
        Line(
            "random-detect color <color:green|yellow|red> minimum-threshold <min:int:1-12480>"
            " maximum-threshold <max:int:1-12480> drop-probability <probability:int:0-100>",
            "color {color}",
            off="random-detect color <color:green|yellow|red> [<rest:rest>]",
        ),
        Line("random-detect weight <weight:int:1-15>", "weight"),
        Line("random-detect ecn", "ecn"),
    ),
    "cmap-nqos": (Line("match qos-group <groups:list:0-7>", "match"),),
    "cmap-queuing": (Line("match queue <queue:int:0-7>", "match"),),
    **{
        f"tmap-{kind}-map": (Line(f"qos-group <group:int:0-7> {kind} <numbers:list:0-{highest}>", "qos-group {group}"),)
        for kind, highest in (("dot1p", 7), ("dscp", 63))
    },
    "qos-map": (Line("queue <queue:int:0-7> qos-group <numbers:list:0-7>", "queue {queue}"),),
    "pmap-queuing": (Line("class <name:word>", "", opens="pmap-c-que"),),
    "pmap-c-que": (
        Line("bandwidth percent <percent:int:1-100>", "bandwidth"),
        Line("priority", "priority"),
        Line("random-detect <name:word>", "wred"),
    ),
    "pmap-network-qos": (Line("class <name:word>", "", opens="pmap-c-nqos"),),
    "pmap-c-nqos": (Line("pause", "pause"), Line("pfc-cos <cos:list:0-7>", "pfc-cos")),
}
PROMPTS = {"if": "conf-if-", "application": "config-cmap-application"}
PORTS = {"ethernet": "eth", "mgmt": "ma-", "vlan": "vl-", "port-channel": "po-", "loopback": "lo-"}
"""How prompts shorten the kinds of ports."""


def prompt_part(mode: str, header: str) -> str:
    """Return the mode's part of the prompt: `interface ethernet1/1/1` -> `conf-if-eth1/1/1`."""
    if mode != "if":
        return PROMPTS.get(mode, f"config-{mode}")
    port = header.removeprefix("interface ")
    kind = port.rstrip("0123456789/:")
    return f"conf-if-{PORTS[kind]}{port.removeprefix(kind)}"


DEFAULT_MTU = 1532
MAPPED = re.compile(r"((?:qos-group|queue) \d+ (?:dot1p|dscp|qos-group)) (\S+)")
USES = {
    "service-policy input type network-qos": "policy-map type network-qos",
    "service-policy output type queuing": "policy-map type queuing",
    "qos-map traffic-class": "qos-map traffic-class",
    "trust-map dot1p": "trust dot1p-map",
    "trust-map dscp": "trust dscp-map",
    "random-detect": "wred",
}
"""Lines that name a block, without the name -> the block's header."""
CLASSES = {
    "policy-map type queuing": "class-map type queuing",
    "policy-map type network-qos": "class-map type network-qos",
}
"""Policies, whose blocks name a class."""


class Language(language.Language):
    """OS10's one space, and its refusals."""

    grammar = GRAMMAR
    indent = " "
    fixed = re.compile(r"interface (ethernet|mgmt)")
    defaults = ("no",)
    shows_empty = True

    def table(self, mode: str, platform: str) -> tuple[Line, ...]:
        """Return the lines of a mode; all platforms have the same."""
        del platform
        return MODES[mode]

    def check(self, config: Node, path: list[str], found: Match, *, removes: bool) -> None:
        """Refuse what contradicts the rest of the configuration."""
        here = tree.at(config, path) if path else config
        if removes and path:
            return
        if removes:
            self._refuse_in_use(config, found.text)
        elif found.pattern == "interface <port:port>":
            if found.args["port"].startswith("ethernet") and not tree.block(config, found.text):
                raise Refused("% Error: Interface does not exist.")
        else:
            _refuse_unknown(config, path, found.text)
            _refuse_second(here, found)

    def _refuse_in_use(self, node: Node, header: str) -> None:
        used = [text for text in _texts(node) if _header(text) == header]
        title, _, name = header.rpartition(" ")
        users = [policy for policy, classes in CLASSES.items() if classes == title]
        used += [text for policy in users for text in _classes(node, policy) if text == f"class {name}"]
        if used:
            raise Refused(f"% Error: {header} is in use.")

    def finish(self, printed: list[str]) -> list[str]:
        """Spell numbers as ranges."""
        return [_ranged(line) for line in printed]


def _header(text: str) -> str:
    """Return the header of the block that a line names; nothing if it names none."""
    start, _, name = text.rpartition(" ")
    return f"{USES[start]} {name}" if start in USES else ""


def _texts(node: Node) -> Iterator[str]:
    """Give the lines of all blocks below one."""
    for inner in node["blocks"].values():
        yield from inner["lines"].values()
        yield from _texts(inner)


def _classes(node: Node, policy: str) -> Iterator[str]:
    for key, inner in node["blocks"].items():
        if tree.header(key).startswith(f"{policy} "):
            yield from map(tree.header, inner["blocks"])


def _refuse_unknown(node: Node, path: list[str], text: str) -> None:
    inside = bool(path) and not tree.header(path[0]).startswith("wred ")
    needed = _header(text) if inside else ""
    if inside and text.startswith("class "):
        policy = tree.header(path[0]).rpartition(" ")[0]
        needed = f"{CLASSES[policy]} {text.split()[1]}"
    if needed and not (needed.endswith(" default") or tree.block(node, needed)):
        raise Refused(f"% Error: {needed} does not exist.")


def _refuse_second(here: Node, found: Match) -> None:
    """Refuse what only one line of a block can say."""
    texts = list(here["lines"].values())
    words = found.text.split()
    if "numbers" in found.args:
        others = [number for match in map(MAPPED.fullmatch, texts) if match for number in expand(match[2])]
        if found.text not in texts and {*others} & {*expand(found.args["numbers"])}:
            raise Refused("% Error: Some of the values are already mapped.")
    if words[0] == "service-policy" and any(it.startswith(" ".join(words[:4])) and it != found.text for it in texts):
        raise Refused("% Error: A policy of this type is already applied.")
    flow = [it for it in texts if it.startswith("flowcontrol ") and it.endswith(" on")]
    pfc = "priority-flow-control mode on"
    if (found.text == pfc and flow) or (words[0] == "flowcontrol" and words[-1] == "on" and pfc in texts):
        raise Refused("% Error: Priority flow control and link-level flow control exclude each other.")
    if (found.text == "priority" and any(it.startswith("bandwidth ") for it in texts)) or (
        words[0] == "bandwidth" and "priority" in texts
    ):
        raise Refused("% Error: A class has either priority or bandwidth.")


def validate(node: Node) -> None:
    """Raise Refused for a configuration that can't be put in force."""
    for key, policy in node["blocks"].items():
        shares = [int(text.split()[-1]) for text in _texts(policy) if text.startswith("bandwidth percent ")]
        if sum(shares) > 100:
            raise Refused(f"% Error: The bandwidth of {tree.header(key)} is above 100 percent.")
        group = next(tree.values(policy, "channel-group "), "")
        channel = tree.block(node, f"interface port-channel{group.split()[0]}") if group else None
        if channel and _mtu(channel) > _mtu(policy):
            raise Refused(f"% Error: The MTU of port-channel{group.split()[0]} is above that of its members.")


def _mtu(node: Node) -> int:
    """Members have at least the MTU of the port-channel (Dell's guides on MTU)."""
    return int(next(tree.values(node, "mtu "), DEFAULT_MTU))


def _ranged(line: str) -> str:
    found = MAPPED.fullmatch(line.strip())
    if not found:
        return line
    runs = []
    for _, group in groupby(enumerate(sorted(expand(found[2]))), key=lambda pair: pair[1] - pair[0]):
        row = [number for _, number in group]
        runs.append(str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}")
    return f" {found[1]} {','.join(runs)}"


def pausing(node: Node, port: str) -> dict[str, Any]:
    """Return what PFC does on a port: whether it is configured, and the priorities that it pauses."""
    here = tree.block(node, f"interface {port}") or tree.empty()
    name = next(tree.values(here, "service-policy input type network-qos "), "")
    policy = tree.block(node, f"policy-map type network-qos {name}") or tree.empty()
    classes = [it["lines"].values() for it in policy["blocks"].values()]
    paused = [text.split()[1] for texts in classes if "pause" in texts for text in texts if text.startswith("pfc-cos ")]
    enabled = "priority-flow-control mode on" in here["lines"].values()
    numbers = sorted({number for text in paused for number in expand(text)}) if enabled else []
    return {"admin": enabled, "priorities": numbers}


OS10 = Language()
