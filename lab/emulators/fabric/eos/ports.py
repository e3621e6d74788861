# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A port as it works, and what the show commands say of it: links, neighbours, the lossless class, what it counts.

JSON keys: eAPI responses; commands on the class have no documented JSON. Their layouts: EOS manual (QoS; DCBX and flow
control) and public captures. `show priority-flow-control counters`, `show qos interfaces ecn counters queue` and `show
interfaces counters queue detail` as Arista's network test framework ANTA reads them, with its unit tests' data.
`counters detail` and `counters watchdog` as Meta's health checks of EOS switches read them: the latter leaves out ports
without an event. Text of counters: the EOS manual's header of PFC counters; the other texts are modelled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli import tree
from lab.emulators.fabric.cli.shows import Answer, Question, Shows, columns
from lab.emulators.fabric.data_model import PRIORITIES, count
from lab.emulators.fabric.eos.tree import polling
from lab.emulators.fabric.switch import Refused, State

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Port:
    """The lines in force on a port: its own over those of its service profile."""

    name: str
    lines: tuple[str, ...]
    queues: dict[str, tuple[str, ...]]

    @property
    def pfc(self) -> bool:
        """Say whether priority flow control is on."""
        return "priority-flow-control on" in self.lines

    @property
    def lossless(self) -> list[str]:
        """Return the priorities that are paused instead of dropped."""
        words = [text.split() for text in self.lines if text.startswith("priority-flow-control priority ")]
        return sorted({priority for _, _, priority, action in words if action == "no-drop"})

    @property
    def routed(self) -> bool:
        """Say whether the port is a layer-3 one."""
        return "no switchport" in self.lines

    @property
    def up(self) -> bool:
        """Say whether the link is up."""
        return "shutdown" not in self.lines


def port(state: State, name: str) -> Port:
    """Return the lines in force on a port; a profile that doesn't exist has no effect."""
    own = tree.block(state["running"], f"interface {name}")
    if own is None or name not in state["ports"]:
        raise Refused("% Interface does not exist")
    title = next((t.split()[1] for t in own["lines"].values() if t.startswith("service-profile ")), "")
    profile = tree.block(state["running"], f"qos profile {title}") or tree.empty()
    queues: dict[str, tuple[str, ...]] = {}
    for key, queue in [*profile["blocks"].items(), *own["blocks"].items()]:
        number = key.rpartition(" ")[2]
        queues[number] = (*queues.get(number, ()), *queue["lines"].values())
    return Port(name, (*profile["lines"].values(), *own["lines"].values()), queues)


def ports(question: Question) -> list[Port]:
    """Return the ports that a command asks for, in EOS's order."""
    wanted = question.args.get("port")
    names = [wanted] if wanted else sorted(question.state["ports"], key=tree.natural)
    return [port(question.state, name) for name in names]


def interfaces(question: Question) -> Answer:
    """`show interfaces [PORT]`: link, MTU and how often the link changed."""
    data = {one.name: _interface(question.state, one) for one in ports(question)}
    lines: list[str] = []
    for name, one in data.items():
        kind = "IP MTU" if one["forwardingModel"] == "routed" else "Ethernet MTU"
        link = "administratively down" if one["interfaceStatus"] == "disabled" else "up"
        lines.append(f"{name} is {link}, line protocol is {one['lineProtocolStatus']} ({one['interfaceStatus']})")
        lines += ["  Hardware is Ethernet, address is 001c.7300.0001 (bia 001c.7300.0001)"]
        lines += [f"  Description: {one['description']}"] if one["description"] else []
        lines += [f"  {kind} {one['mtu']} bytes, BW 400000000 kbit"]
        lines += [f"  {one['interfaceCounters']['linkStatusChanges']} link status changes since last clear"]
    return Answer("\n".join(lines), {"interfaces": data})


MAPPED = re.compile(r"qos map dscp (\d+) to traffic-class (\d)")
MARKS = "random-detect ecn minimum-threshold "


def forwarding(state: State) -> dict[str, Any]:
    """Return what packets meet: links, MTUs, trust, and the classes that are lossless or marked."""
    mapped = (MAPPED.fullmatch(text) for text in state["running"]["lines"].values())
    shown = {}
    for one in (port(state, name) for name in state["ports"]):
        about = _interface(state, one)
        shown[one.name] = {
            "up": one.up,
            "mtu": about["mtu"],
            "trust": "qos trust dscp" in one.lines or (one.routed and "qos trust cos" not in one.lines),
            "lossless": [int(priority) for priority in one.lossless] if one.pfc else [],
            "marks": [
                int(queue) for queue, texts in one.queues.items() if any(text.startswith(MARKS) for text in texts)
            ],
        }
    return {"ports": shown, "dscp": {it[1]: int(it[2]) for it in mapped if it}, "neighbors": state["neighbors"]}


def _interface(state: State, one: Port) -> dict[str, Any]:
    mtu = next((int(text.split()[1]) for text in one.lines if text.startswith("mtu ")), 1500)
    link = state["ports"][one.name]
    return {
        "name": one.name,
        "hardware": "ethernet",
        "description": next((text.split(" ", 1)[1] for text in one.lines if text.startswith("description ")), ""),
        "forwardingModel": "routed" if one.routed else "bridged",
        "lineProtocolStatus": "up" if one.up else "down",
        "interfaceStatus": "connected" if one.up else "disabled",
        # The configured MTU is the IP MTU: a switched port carries whatever frames the hardware can.
        "mtu": mtu if one.routed else 9214,
        "bandwidth": 400_000_000_000,
        "lastStatusChangeTimestamp": link["changed"],
        "interfaceCounters": {"linkStatusChanges": link["flaps"]},
    }


def lldp(question: Question) -> Answer:
    """`show lldp neighbors`: who is at the other end of each port."""
    cables = question.state["neighbors"]
    found = [
        {"port": name, "neighborDevice": cables[name][0], "neighborPort": cables[name][1], "ttl": 120}
        for name in sorted(cables, key=tree.natural)
    ]
    rows = [("Port", "Neighbor Device ID", "Neighbor Port ID", "TTL")]
    rows += [(f"Et{n['port'][8:]}", n["neighborDevice"], n["neighborPort"], "120") for n in found]
    drawn = ["{:<14}{:<25}{:<20}{}".format(*row) for row in rows]
    drawn.insert(1, " ".join("-" * width for width in (10, 24, 22, 3)))
    head = [
        "Last table change time   : 0:16:21 ago",
        f"Number of table inserts  : {len(found)}",
        "Number of table deletes  : 0",
        "Number of table drops    : 0",
        "Number of table age-outs : 0",
        "",
    ]
    tables = {"tablesInserts": len(found), "tablesDeletes": 0, "tablesDrops": 0, "tablesAgeOuts": 0}
    return Answer("\n".join([*head, *drawn]), {**tables, "lldpNeighbors": found})


PORTS: Shows = {
    "show interfaces [<port:port>]": interfaces,
    "show lldp neighbors": lldp,
}


def pfc(question: Question) -> Answer:
    """`show priority-flow-control [status]`: which ports pause which priorities."""
    rows = [["Port", "Enabled", "Priorities", "Active", "Note"]]
    for one in ports(question):
        state = [_yes(one.pfc), " ".join(one.lossless), _yes(one.pfc and one.up)]
        rows.append([one.name, *state, "DCBX disabled"])
    head = ["The hardware supports PFC on priorities 0 1 2 3 4 5 6 7"]
    head += _watchdog(question.state["running"]) if "status" in question.args else []
    return Answer("\n".join([*head, "Global PFC : Enabled", "", *columns(rows, "  ")]))


def _watchdog(running: tree.Node) -> list[str]:
    """Return the watchdog's times as they work, which isn't always as they are configured."""
    texts = [text for key, text in running["lines"].items() if key.startswith("86.")]
    said = {text.split()[-2]: text.split()[-1] for text in texts}
    said["polling-interval"] = polling(running)[1] or "0.0"
    names = ("timeout", "recovery-time", "polling-interval")
    times = [f"The PFC watchdog {name} is {said.get(name, '0.0')} second(s)" for name in names]
    return [*times, f"The PFC watchdog action is {said.get('action', 'errdisable')}"]


def ecn(question: Question) -> Answer:
    """`show qos interfaces PORT ecn`: the thresholds that each queue marks at."""
    lines = [
        "Tx-Queue  Threshold  ECN Min     ECN Max",
        "          Unit       Threshold   Threshold",
        "--------  ---------  ---------   ---------",
    ]
    for queue, texts in sorted(ports(question)[0].queues.items()):
        for words in (text.split() for text in texts if text.startswith("random-detect ecn minimum")):
            lines.append(f"{queue:<10}{words[4]:<11}{words[3]:<12}{words[6]}")
    return Answer("\n".join(lines))


def _yes(value: bool) -> str:
    return "Yes" if value else "No"


QOS: Shows = {
    "show priority-flow-control [<status:status>]": pfc,
    "show priority-flow-control interfaces <port:port> [<status:status>]": pfc,
    "show qos interfaces <port:port> ecn": ecn,
}


PACKET_BYTES = 4096
WAYS = ("rx", "tx")


def _table(titles: str, rows: list[list[str]], data: dict[str, Any]) -> Answer:
    return Answer("\n".join(columns([titles.split(), *rows], "  ")), data)


def _frames(question: Question, name: str, priorities: Iterable[int]) -> dict[str, int]:
    return {f"{way}Frames": sum(count(question.state, name, n, f"{way}_pause") for n in priorities) for way in WAYS}


def frames(question: Question) -> Answer:
    """`show priority-flow-control counters`: pause frames of a port, all priorities together."""
    data = {one.name: _frames(question, one.name, PRIORITIES) for one in ports(question)}
    rows = [[name, *map(str, it.values())] for name, it in data.items()]
    return _table("Port RxPfc TxPfc", rows, {"interfaceCounters": data})


def pfc_detail(question: Question) -> Answer:
    """`show priority-flow-control counters detail`: the same by priority."""
    names = [one.name for one in ports(question)]
    data = {name: {"priorities": {str(n): _frames(question, name, [n]) for n in PRIORITIES}} for name in names}
    rows = [[name, n, *map(str, it.values())] for name in names for n, it in data[name]["priorities"].items()]
    return _table("Port Priority RxPfc TxPfc", rows, {"interfaces": data})


def watchdog(question: Question) -> Answer:
    """`show priority-flow-control counters watchdog`: ports whose queues were stuck."""
    data: dict[str, Any] = {}
    for one in ports(question):
        for n in PRIORITIES:
            if stuck := count(question.state, one.name, n, "storms"):
                queue = {"stuckCount": stuck, "recoveryCount": count(question.state, one.name, n, "restored")}
                data.setdefault(one.name, {"txQueues": {}})["txQueues"][str(n)] = queue
    rows = [[name, n, *map(str, it.values())] for name, port in data.items() for n, it in port["txQueues"].items()]
    return _table("Port TxQ Stuck Recovered", rows, {"interfaces": data})


def marks(question: Question) -> Answer:
    """`show qos interfaces ecn counters queue`: a queue that does not count its marks shows `-`."""
    data = {
        one.name: {"queueCounters": {str(n): _marked(question, one, n) for n in PRIORITIES}} for one in ports(question)
    }
    rows = [[name, n, value] for name, it in data.items() for n, value in it["queueCounters"].items()]
    return _table("Port TxQ Marked", rows, {"intfQueueCounters": data})


def _marked(question: Question, one: Port, queue: int) -> str:
    counts = "random-detect ecn count" in one.queues.get(str(queue), ())
    return str(count(question.state, one.name, queue, "marked")) if counts else "-"


def queues(question: Question) -> Answer:
    """`show interfaces counters queue detail`: drops of each class, by drop precedence."""
    data: dict[str, Any] = {}
    rows: list[list[str]] = []
    for one in ports(question):
        classes: dict[str, Any] = {}
        for n in PRIORITIES:
            dropped = count(question.state, one.name, n, "dropped")
            counts = {"enqueuedPackets": 0, "enqueuedBytes": 0, "droppedPackets": dropped}
            classes[f"TC{n}"] = {"dropPrecedences": {"DP0": {**counts, "droppedBytes": dropped * PACKET_BYTES}}}
            rows.append([f"Et{one.name[8:]}", f"UC{n}", "0", "0", str(dropped), str(dropped * PACKET_BYTES)])
        data[one.name] = {"ucastQueues": {"trafficClasses": classes}, "mcastQueues": {"trafficClasses": {}}}
    titles = "Port TxQ Counter/pkts Counter/bytes Drop/pkts Drop/bytes"
    return _table(titles, rows, {"egressQueueCounters": {"interfaces": data}})


COUNTERS: Shows = {
    "show priority-flow-control counters": frames,
    "show priority-flow-control counters detail": pfc_detail,
    "show priority-flow-control counters watchdog": watchdog,
    "show qos interfaces ecn counters queue": marks,
    "show interfaces counters queue detail": queues,
}
