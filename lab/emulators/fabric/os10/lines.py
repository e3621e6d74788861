# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration lines that the emulated switch knows, mode by mode, in the order in which OS10 prints them.

Spelling, order, ranges of numbers and the ` !` before a class: `show running-configuration` of OS10 10.5.1 (public
captures) and Dell's own RoCE configurations (H19195.5). WRED: the User Guide 10.5, congestion avoidance. [recalled]
from its chapter on QoS: `trust dscp-map`, by analogy with dot1p, and `priority`. What is in no source is [modelled].
Whatever isn't here is `% Error: Unrecognized command.`
"""

from __future__ import annotations

from lab.emulators.fabric.cli.grammar import Grammar
from lab.emulators.fabric.cli.language import Line

XGS = "xgs"
GRAMMAR = Grammar(
    ports=("ethernet", "mgmt", "vlan", "port-channel", "loopback"),
    invalid="% Error: Unrecognized command.",
    incomplete="% Error: Incomplete command.",  # [modelled]
    ambiguous="% Error: Ambiguous command.",  # [modelled]
)
GLOBAL = (
    Line("ip vrf <name:word>", "vrf {name}", 5, off="ip vrf <name:word>"),
    Line("hostname <name:word>", "hostname", 10),
    Line("dcbx enable", "dcbx", 10),
    Line("iscsi enable", "iscsi", 10),
    Line("system-user <name:word> password <secret:word>", "system-user", 10, off="system-user <name:word>"),
    Line("username <name:word> password <role:rest>", "username {name}", 10, off="username <name:word>"),
    Line("aaa authentication login <rest:rest>", "aaa {rest}", 10, off="aaa authentication login <rest:rest>"),
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
    Line("interface <port:port>", "", 80, opens="if"),
)
TRUST = (
    Line("qos-map traffic-class <name:word>", "qos-map", off="qos-map traffic-class [<name:word>]"),
    Line("trust-map dot1p <name:word>", "trust-map dot1p", off="trust-map dot1p [<name:word>]"),
    Line("trust-map dscp <name:word>", "trust-map dscp", off="trust-map dscp [<name:word>]"),
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
        f"tmap-{kind}-map": (
            Line(
                f"qos-group <group:int:0-7> {kind} <numbers:list:0-{highest}>",
                "qos-group {group}",
                off=f"qos-group <group:int:0-7> [{kind}] [<numbers:list:0-{highest}>]",
            ),
        )
        for kind, highest in (("dot1p", 7), ("dscp", 63))
    },
    "qos-map": (
        Line(
            "queue <queue:int:0-7> qos-group <numbers:list:0-7>",
            "queue {queue}",
            off="queue <queue:int:0-7> [qos-group] [<numbers:list:0-7>]",
        ),
    ),
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
    """Return what stands in the prompt: `interface ethernet1/1/1` -> `conf-if-eth1/1/1`."""
    if mode != "if":
        return PROMPTS.get(mode, f"config-{mode}")
    port = header.removeprefix("interface ")
    kind = port.rstrip("0123456789/:")
    return f"conf-if-{PORTS[kind]}{port.removeprefix(kind)}"
