# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration lines that the emulated switch knows, mode by mode, in the order in which it prints them.

Cloud Scale switches have eight queues: their system classes are c-8q-nq*, c-out-8q-q* and c-in-q*. Watchdog: its
defaults are 100 ms, 1 interval until a queue counts as stuck, 10 until it is restored.
"""

from __future__ import annotations

from lab.emulators.fabric.cli.grammar import Grammar
from lab.emulators.fabric.cli.language import Line

CLOUDSCALE = "cloudscale"
GRAMMAR = Grammar(
    ports=("Ethernet", "loopback", "mgmt", "port-channel"),
    invalid="                   ^\n% Invalid command at '^' marker.",
    incomplete="% Incomplete command at '^' marker.",
    ambiguous="% Ambiguous command at '^' marker.",
)
PFC = "priority-flow-control"
NUMBERS = range(1, 8)
NETWORK = "|".join(["c-8q-nq-default", *(f"c-8q-nq{n}" for n in NUMBERS)])
QUEUES = "|".join(["c-out-8q-q-default", *(f"c-out-8q-q{n}" for n in NUMBERS), *(f"c-in-q{n}" for n in NUMBERS)])
QUEUING = "service-policy type queuing <direction:input|output> <policy:word>"
CLASSIFY = "service-policy type qos input <policy:word>"
NETWORK_QOS = "service-policy type network-qos <policy:word>"
ATTACHED = (
    Line(CLASSIFY, "qos input", off=CLASSIFY),
    Line(QUEUING, "queuing {direction}", off=QUEUING),
)
UNITS = "bytes|kbytes|mbytes|packets"
WRED = (
    f"random-detect minimum-threshold <min:int:0-52428800> <unit:{UNITS}> maximum-threshold <max:int:1-52428800>"
    f" <unit:{UNITS}> drop-probability <probability:int:1-100> weight <weight:int:0-15> [ecn]"
)
SPREAD = (
    "ip load-sharing address <by:source-destination|destination> [port <of:source-destination|destination>]"
    " [universal-id <seed:int:0-4294967295>] [rotate <bits:int:1-63>]"
)
HASHED = "ip load-sharing address source-destination port source-destination"
ROLL_BACK = "rollback running-config checkpoint <name:word> [<how:atomic|best-effort|stop-at-first-failure>]"
TABLES: dict[str, tuple[Line, ...]] = {
    "config": (
        Line("hostname <name:word>", "hostname", 10),
        Line("feature <name:word>", "feature {name}", 20),
        Line("username <name:word> <rest:rest>", "username {name}", 30, "username <name:word>"),
        Line("ntp server <address:word>", "ntp server {address}", 31),
        Line("class-map type qos <kind:match-all|match-any> <name:word>", "", 40, opens="cmap-qos"),
        Line("policy-map type qos <name:word>", "", 41, opens="pmap-qos"),
        Line("policy-map type queuing <name:word>", "", 42, opens="pmap-que"),
        Line("policy-map type network-qos <name:word>", "", 43, opens="pmap-nqos"),
        Line("system qos", "", 44, opens="sys-qos"),
        Line(f"{PFC} watch-dog-interval <state:on|off>", "watch-dog", 45, hidden=f"{PFC} watch-dog-interval off"),
        Line(f"{PFC} watch-dog interval <ms:int:100-1000>", "interval", 45, hidden=f"{PFC} watch-dog interval 100"),
        Line(
            f"{PFC} watch-dog shutdown-multiplier <times:int:1-10>",
            "shutdown",
            45,
            hidden=f"{PFC} watch-dog shutdown-multiplier 1",
        ),
        Line(
            f"{PFC} auto-restore multiplier <times:int:0-100>",
            "restore",
            45,
            hidden=f"{PFC} auto-restore multiplier 10",
        ),
        # Interfaces Configuration Guide 10.3(x), ECMP load balancing; that the default isn't printed is modelled.
        Line(SPREAD, "load-sharing", 60, off="ip load-sharing address [<rest:rest>]", hidden=HASHED),
        Line("interface <port:port>", "", 70, opens="if"),
        Line("scheduler job name <name:word>", "", 80, opens="job"),
        Line("scheduler schedule name <name:word>", "", 81, opens="schedule"),
    ),
    "job": (Line(ROLL_BACK, "rollback"),),
    "schedule": (Line("job name <name:word>", "job"), Line("time start <when:word>", "time")),
    "if": (
        Line("description <text:rest>", "description"),
        Line("switchport", "switchport", kept="no switchport", hidden="switchport"),
        Line("mtu <bytes:int:576-9216>", "mtu", hidden="mtu 1500"),
        Line(f"{PFC} mode <mode:auto|on|off>", "pfc", hidden=f"{PFC} mode auto"),
        Line(f"{PFC} watch-dog-interval <state:on|off>", "watch-dog", hidden=f"{PFC} watch-dog-interval off"),
        *ATTACHED,
        Line("ip address <address:prefix>", "ip address"),
        Line("channel-group <number:int:1-4096> [mode] [<mode:active|passive|on>]", "channel-group"),
        Line("vpc <number:int:1-4096>", "vpc"),
        Line("shutdown", "shutdown", kept="no shutdown"),
    ),
    "cmap-qos": (Line("match dscp <dscp:list:0-63>", "match {dscp}", each="dscp"),),
    "pmap-qos": (Line("class <name:word>", "", opens="pmap-c-qos"),),
    "pmap-c-qos": (Line("set qos-group <group:int:0-7>", "qos-group"),),
    "pmap-nqos": (Line(f"class type network-qos <class:{NETWORK}>", "", opens="pmap-nqos-c"),),
    "pmap-nqos-c": (
        Line("mtu <bytes:int:1500-9216>", "mtu", hidden="mtu 1500"),
        Line("pause pfc-cos <cos:int:0-7>", "pause"),
    ),
    "pmap-que": (Line(f"class type queuing <class:{QUEUES}>", "", opens="pmap-c-que"),),
    "pmap-c-que": (
        Line("priority level <level:int:1-3>", "priority", off="priority [level] [<level:int:1-3>]"),
        Line("bandwidth percent <percent:int:0-100>", "bandwidth"),
        Line("bandwidth remaining percent <percent:int:0-100>", "bandwidth remaining"),
        Line(WRED, "random-detect", off="random-detect [<rest:rest>]"),
        Line(
            "pause buffer-size <size:int:0-52428800> pause-threshold <xoff:int:0-52428800>"
            " resume-threshold <xon:int:0-52428800>",
            "pause",
            off="pause [<rest:rest>]",
        ),
    ),
    "sys-qos": (Line(NETWORK_QOS, "network-qos", off=NETWORK_QOS), *ATTACHED),
}
